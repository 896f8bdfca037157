/** All media servers of a node. */
import type { ConferenceMix } from './conference-mix.ts';
import type { MediaEndpoint } from './endpoint.ts';
import type { ChannelPlace, EndpointServer, EndpointWish } from './endpoint-server.ts';
import { MediaAccessRefused } from './link-error.ts';
import type { MediaServerAddress, MediaRoute } from './link.ts';
import { MediaError } from './media-error.ts';
import { MediaServer } from './server.ts';

/** Milliseconds between attempts at the first connection to a media server. */
const RETRY_MS = 1000;

export interface Log {
  warn(details: object, message: string): void;
}

/** A wish for an endpoint, and its media server. */
export interface PlacedEndpointWish extends EndpointWish {
  /** The media server of the call's other endpoints; absent: any. */
  readonly on?: EndpointServer | undefined;
}

/**
 * All media servers of a node. Endpoints to be connected must share a server: the first endpoint of a call is placed
 * here, and the others name its server.
 */
export class MediaServers {
  readonly #servers: readonly MediaServer[];
  readonly #wanted: number;
  readonly #closing = new AbortController();
  readonly #told = new Set<string>();
  #turn = 0;

  /** @param wanted connections to event sockets when all servers are reachable */
  private constructor(servers: readonly MediaServer[], wanted: number) {
    this.#servers = servers;
    this.#wanted = wanted;
  }

  /**
   * Connects to every media server through every SIP server. Settles when one is usable; the others are added when they
   * answer.
   * @param patienceMs time to wait for the first one; 0 tries once. Ignored for servers that refuse this node
   * @throws MediaLinkError when none is usable
   */
  static async connect(
    routes: readonly MediaRoute[],
    addresses: readonly MediaServerAddress[],
    { patienceMs, log }: { readonly patienceMs: number; readonly log: Log },
  ): Promise<MediaServers> {
    const servers = addresses.map((address) => new MediaServer(address));
    const pool = new MediaServers(servers, servers.length * routes.length);
    const end = performance.now() + patienceMs;
    const connecting = servers.flatMap((server, at) =>
      routes.map((route) => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        void pool
          .#connect(server, route, addresses[at] as MediaServerAddress, { end, log, refused: reject })
          .then(resolve, reject);
        return promise;
      }),
    );
    try {
      await Promise.any(connecting);
    } catch (error) {
      pool.close();
      throw error instanceof AggregateError ? error.errors[0] : error;
    }
    return pool;
  }

  /** True when endpoints can be created. */
  get connected(): boolean {
    return this.#servers.some(({ usable }) => usable);
  }

  /** Number of usable media servers. */
  get usable(): number {
    return this.#servers.filter(({ usable }) => usable).length;
  }

  /** Connections to event sockets: one to each media server for each SIP server. */
  pool(): { readonly open: number; readonly limit: number } {
    return { open: this.#servers.reduce((sum, { links }) => sum + links, 0), limit: this.#wanted };
  }

  /** Number of live endpoints. */
  get count(): number {
    return this.#servers.reduce((sum, { count }) => sum + count, 0);
  }

  /** The only configured media server; saves waiting for a choice. */
  get only(): EndpointServer | undefined {
    return this.#servers.length === 1 ? this.#servers[0] : undefined;
  }

  /** The configured media server of this name, which is the same at all nodes. */
  named(name: string): EndpointServer | undefined {
    return this.#servers.find((server) => server.name === name);
  }

  /**
   * Creates an endpoint on the named server, otherwise on the least loaded server that accepts it, of the own site if possible.
   * @throws MediaError with the SIP status of the refusal, 503 when no server accepts it
   */
  async createEndpoint({ on, ...wish }: PlacedEndpointWish = {}): Promise<MediaEndpoint> {
    if (on !== undefined) return on.createEndpoint(wish);
    const [first, ...others] = this.#byLoad();
    if (first === undefined) throw new MediaError('no media server is connected', 503);
    if (others.length === 0) return first.createEndpoint(wish);
    for (const server of [first, ...others]) {
      try {
        return await server.createEndpoint(wish, 0);
      } catch (error) {
        // Without a common codec, the other servers would refuse it too.
        if (!(error instanceof MediaError) || error.status !== 503) throw error;
      }
    }
    const [last = first] = this.#byLoad();
    return last.createEndpoint(wish);
  }

  /**
   * Creates a conference of that name.
   * @param on its media server; absent: the least loaded one
   * @throws MediaError when no server is connected
   */
  conference(name: string, on?: EndpointServer): ConferenceMix {
    const server = on ?? this.#byLoad()[0];
    if (server === undefined) throw new MediaError('no media server is connected', 503);
    return server.conference(name);
  }

  /**
   * Stops recordings of a killed node to these files on the running media servers.
   * @throws MediaError when one of them cannot be asked
   */
  async endRecordings(files: ReadonlySet<string>): Promise<void> {
    await Promise.all(this.#servers.filter(({ usable }) => usable).map((server) => server.endRecordings(files)));
  }

  /** Whether a channel that another node made still lives. False when its server cannot be asked. */
  async hasChannel({ server, uuid }: Pick<ChannelPlace, 'server' | 'uuid'>): Promise<boolean> {
    return (await this.#ofOthers(server, `uuid_exists ${uuid}`)).trim() === 'true';
  }

  /** Ends a channel that another node made, if it still lives. Never rejects. */
  async endChannel({ server, uuid }: Pick<ChannelPlace, 'server' | 'uuid'>): Promise<void> {
    await this.#ofOthers(server, `uuid_kill ${uuid}`);
  }

  /** The answer to a command; empty when the server is unknown or away. */
  async #ofOthers(server: string, command: string): Promise<string> {
    const named = this.#servers.find(({ name, usable }) => usable && name === server);
    return (await named?.api(command).catch(() => '')) ?? '';
  }

  close(): void {
    this.#closing.abort();
    for (const server of this.#servers) server.close();
  }

  /** The usable servers, the best first: responsive ones, those of the own site, by load, equal ones in turn. */
  #byLoad(): MediaServer[] {
    const { length } = this.#servers;
    const turn = this.#turn++;
    const inTurn = this.#servers.map((_, at) => this.#servers[(at + turn) % length] as MediaServer);
    return inTurn
      .filter(({ usable }) => usable)
      .toSorted(
        (a, b) => Number(a.resting) - Number(b.resting) || Number(a.isRemote) - Number(b.isRemote) || a.count - b.count,
      );
  }

  /**
   * Tries until it succeeds, or until `end` while no server is usable; later until the node stops.
   * @param refused called when the server refuses this node
   */
  async #connect(
    server: MediaServer,
    route: MediaRoute,
    address: MediaServerAddress,
    { end, log, refused }: { end: number; log: Log; refused: (error: MediaAccessRefused) => void },
  ): Promise<void> {
    for (;;) {
      try {
        return await server.connect(route, address);
      } catch (err) {
        const { signal } = this.#closing;
        if (signal.aborted || (!this.connected && performance.now() + RETRY_MS > end)) throw err;
        this.#tell(err as Error, log);
        if (err instanceof MediaAccessRefused) refused(err);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, RETRY_MS);
          signal.addEventListener(
            'abort',
            () => {
              clearTimeout(timer);
              resolve();
            },
            { once: true },
          );
        });
        signal.throwIfAborted();
      }
    }
  }
  /** Logs each problem once, however many connections the server has. */
  #tell({ message }: Error, log: Log): void {
    if (this.#told.has(message)) return;
    this.#told.add(message);
    log.warn({ err: message }, 'a media server cannot be used yet, trying again');
  }
}
