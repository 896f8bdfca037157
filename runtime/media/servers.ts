import type { ConferenceMix } from './conference-mix.ts';
import type { EndpointServer, MediaEndpoint } from './endpoint.ts';
import { MediaAccessRefused } from './link-error.ts';
import type { MediaServerAddress, SipRoute } from './link.ts';
import { MediaError } from './media-error.ts';
import { type EndpointWish, MediaServer } from './server.ts';

/** Milliseconds between attempts to connect to a media server for the first time. */
const RETRY_MS = 1000;

export interface Log {
  warn(details: object, message: string): void;
}

/** An endpoint, and where it has to be. */
export interface PlacedEndpointWish extends EndpointWish {
  /** The media server on which the other endpoints of the call are; absent: any. */
  readonly on?: EndpointServer | undefined;
}

/**
 * All media servers of a node. Endpoints that are to be connected have to be on one server: whoever makes the first of a call
 * leaves the choice here, and names that server for the others.
 */
export class MediaServers {
  readonly #servers: readonly MediaServer[];
  readonly #closing = new AbortController();
  readonly #told = new Set<string>();
  #turn = 0;

  private constructor(servers: readonly MediaServer[]) {
    this.#servers = servers;
  }

  /**
   * Connects to every media server by every SIP server, and settles when one of them can be used; the others are taken up when
   * they answer.
   * @param patienceMs how long to wait for the first one; 0 tries once. Not for servers that refuse the node
   * @throws MediaLinkError when none can be used
   */
  static async connect(
    routes: readonly SipRoute[],
    addresses: readonly MediaServerAddress[],
    { patienceMs, log }: { readonly patienceMs: number; readonly log: Log },
  ): Promise<MediaServers> {
    const servers = addresses.map((address) => new MediaServer(address));
    const pool = new MediaServers(servers);
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

  /** Whether endpoints can be made. */
  get connected(): boolean {
    return this.#servers.some(({ usable }) => usable);
  }

  /** Media servers that can be used at the moment. */
  get usable(): number {
    return this.#servers.filter(({ usable }) => usable).length;
  }

  /** Live endpoints. */
  get count(): number {
    return this.#servers.reduce((sum, { count }) => sum + count, 0);
  }

  /** The only media server there is: with one, nobody has to wait for a choice. */
  get only(): EndpointServer | undefined {
    return this.#servers.length === 1 ? this.#servers[0] : undefined;
  }

  /**
   * Makes an endpoint on the named server, or else on the one that has least to do and takes it.
   * @throws MediaError with the SIP status of the refusal, 503 when no server can take it
   */
  async createEndpoint({ on, ...wish }: PlacedEndpointWish = {}): Promise<MediaEndpoint> {
    if (on !== undefined) return on.createEndpoint(wish);
    const [first, ...others] = this.#byLoad();
    if (first === undefined) throw new MediaError('there is no connection to a media server', 503);
    if (others.length === 0) return first.createEndpoint(wish);
    for (const server of [first, ...others]) {
      try {
        return await server.createEndpoint(wish, 0);
      } catch (error) {
        // Without a common codec there is none on any of them.
        if (!(error instanceof MediaError) || error.status !== 503) throw error;
      }
    }
    const [last = first] = this.#byLoad();
    return last.createEndpoint(wish);
  }

  /**
   * A conference of that name.
   * @param on where it has to be; absent: on the server that has least to do
   * @throws MediaError when there is no server
   */
  conference(name: string, on?: EndpointServer): ConferenceMix {
    const server = on ?? this.#byLoad()[0];
    if (server === undefined) throw new MediaError('there is no connection to a media server', 503);
    return server.conference(name);
  }

  /**
   * Ends what the media servers that are there still record to these files, for a node that was killed.
   * @throws MediaError when one of them cannot be asked
   */
  async endRecordings(files: ReadonlySet<string>): Promise<void> {
    await Promise.all(this.#servers.filter(({ usable }) => usable).map((server) => server.endRecordings(files)));
  }

  close(): void {
    this.#closing.abort();
    for (const server of this.#servers) server.close();
  }

  /** The servers that can be used, the best choice first: those that answer, by what they have to do, equals in turn. */
  #byLoad(): MediaServer[] {
    const { length } = this.#servers;
    const turn = this.#turn++;
    const inTurn = this.#servers.map((_, at) => this.#servers[(at + turn) % length] as MediaServer);
    return inTurn
      .filter(({ usable }) => usable)
      .toSorted((a, b) => Number(a.resting) - Number(b.resting) || a.count - b.count);
  }

  /**
   * Tries until it works, or until `end` while nothing else works either; later until the node stops.
   * @param refused told when the server does not let the node in
   */
  async #connect(
    server: MediaServer,
    route: SipRoute,
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
  /** Each problem once, however many ways there are to the server. */
  #tell({ message }: Error, log: Log): void {
    if (this.#told.has(message)) return;
    this.#told.add(message);
    log.warn({ err: message }, 'a media server cannot be used yet, trying again');
  }
}
