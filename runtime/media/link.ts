import Mrf, { type FsEndpoint, type FsMediaServer } from 'drachtio-fsmrf';
import { ConferenceMix } from './conference-mix.ts';
import { type EndpointServer, MediaEndpoint } from './endpoint.ts';
import { MediaError } from './media-error.ts';
import { RecordingNotices } from './recording-notices.ts';
import { sendWhole } from './whole-writes.ts';

/** Address and password of a FreeSWITCH event socket. */
export interface MediaServerAddress {
  readonly host: string;
  readonly port: number;
  readonly password: string;
  /** Sofia profile that serves this node. */
  readonly profile: string;
  /** Address on which this node takes the media server's connections. */
  readonly listenAddress: string;
  /** Milliseconds after which an endpoint whose far end sends nothing is given up, unless it holds; 0: never. */
  readonly silenceLimitMs?: number;
}

/** The media server could not be reached or did not accept the password. */
export class MediaLinkError extends Error {
  override readonly name = 'MediaLinkError';
}

/** The connection to a FreeSWITCH: makes endpoints and counts the live ones. */
export class MediaLink implements EndpointServer {
  readonly listenAddress: string;
  readonly recordings = new RecordingNotices();
  readonly #server: FsMediaServer;
  readonly #silenceLimitMs: number;
  readonly #live = new Set<MediaEndpoint>();
  #watchesConferences = false;

  private constructor(server: FsMediaServer, { listenAddress, silenceLimitMs = 0 }: MediaServerAddress) {
    this.#silenceLimitMs = silenceLimitMs;
    this.#server = server;
    this.listenAddress = listenAddress;
    sendWhole(server.conn.socket);
    // On this connection rather than the channel's own: that ends with the channel, and so do many recordings.
    server.conn.subscribe(['RECORD_STOP']);
    server.conn.on('esl::ready', () => {
      server.conn.subscribe(['RECORD_STOP']);
      if (this.#watchesConferences) this.#subscribeConferences();
    });
    server.conn.on('esl::event::RECORD_STOP::*', (event) =>
      this.recordings.notice(event.getHeader('Record-File-Path') ?? ''),
    );
    server.conn.on('esl::event::CUSTOM::*', (event) => {
      if (event.getHeader('Action') === 'stop-recording') this.recordings.notice(event.getHeader('Path') ?? '');
    });
    // The listener for the media server's own connections is the library's: where it hides it elsewhere one day, only
    // speed is lost.
    // oxlint-disable-next-line eslint/no-underscore-dangle -- there is no other way to it
    server._server?.server?.prependListener('connection', sendWhole);
  }

  /**
   * Connects to the event socket.
   * @param srf the application object of drachtio-srf through which endpoints are called
   * @throws MediaLinkError after `timeoutMs`, or at once when the server refuses
   */
  static async connect(srf: object, address: MediaServerAddress, timeoutMs = 5000): Promise<MediaLink> {
    const where = `${address.host}:${address.port}`;
    const mrf = new Mrf(srf);
    let timer: NodeJS.Timeout | undefined;
    // A wrong password leaves the library's promise pending for ever.
    const tooLate = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () =>
          reject(new MediaLinkError(`the media server at ${where} did not accept the connection in ${timeoutMs} ms`)),
        timeoutMs,
      );
    });
    try {
      const server = await Promise.race([
        mrf.connect({
          address: address.host,
          port: address.port,
          secret: address.password,
          listenAddress: address.listenAddress,
          listenPort: 0,
          profile: address.profile,
        }),
        tooLate,
      ]);
      return new MediaLink(server, address);
    } catch (error) {
      if (error instanceof MediaLinkError) throw error;
      throw new MediaLinkError(`the media server at ${where} cannot be used`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  get connected(): boolean {
    return this.#server.connected();
  }

  /** Live endpoints. */
  get count(): number {
    return this.#live.size;
  }

  /**
   * Makes an endpoint. With the phone's session description it answers that; without, it makes an offer, and
   * `modify` takes the answer later.
   * @param mayBeSilent its far end only listens
   * @throws MediaError with the SIP status of the refusal: 488 without a common codec or free RTP ports
   */
  async createEndpoint(remoteSdp?: string, mayBeSilent = false): Promise<MediaEndpoint> {
    const limit = mayBeSilent ? 0 : this.#silenceLimitMs;
    let made: FsEndpoint;
    try {
      made = await this.#server.createEndpoint({
        ...(remoteSdp === undefined ? {} : { remoteSdp }),
        ...(limit === 0 ? {} : { headers: { 'X-Media-Timeout': String(limit) } }),
      });
    } catch (error) {
      const status = (error as { status?: unknown }).status;
      throw new MediaError(
        `the media server refused the endpoint: ${(error as Error).message}`,
        typeof status === 'number' ? status : 503,
        { cause: error },
      );
    }
    const endpoint = new MediaEndpoint(made, this);
    this.#live.add(endpoint);
    endpoint.gone.addEventListener('abort', () => this.#live.delete(endpoint), { once: true });
    return endpoint;
  }

  /** A conference on the media server, by a name that is unique there. */
  conference(name: string): ConferenceMix {
    return new ConferenceMix(name, (command) => this.#server.api(command), {
      completed: (file) => {
        this.#watchConferences();
        return this.recordings.completed(file);
      },
      forget: (file) => this.recordings.forget(file),
    });
  }

  /** Only the end of a recording belongs to no member; a node that records no conference is spared the rest. */
  #watchConferences(): void {
    if (this.#watchesConferences) return;
    this.#watchesConferences = true;
    this.#subscribeConferences();
  }

  #subscribeConferences(): void {
    this.#server.conn.subscribe(['CUSTOM conference::maintenance']);
  }

  close(): void {
    this.#server.disconnect();
  }
}
