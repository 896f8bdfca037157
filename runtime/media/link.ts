/** Connections to FreeSWITCH's event socket. */
import type { Socket } from 'node:net';
import Mrf, { type FsEndpoint, type FsEvent, type FsListener, type FsMediaServer } from 'drachtio-fsmrf';
import { subscribeOnDemand } from './channel-events.ts';
import { answeringByFirstCodec } from './first-codec.ts';
import { MediaLinkError } from './link-error.ts';
import { FIGURE_HEADERS } from './media-figures.ts';
import { probeEventSocket } from './probe.ts';
import { readEventsQuickly } from './quick-events.ts';
import type { RecordingEnd } from './recording-notices.ts';
import { sendCommandsWhole } from './whole-writes.ts';

export { MediaLinkError } from './link-error.ts';

/** Address and password of a FreeSWITCH event socket. */
export interface MediaServerAddress {
  readonly host: string;
  readonly port: number;
  readonly password: string;
  /** Sofia profile for calls of this node. */
  readonly profile: string;
  /** Address of this node for the media server's outbound connections. */
  readonly listenAddress: string;
  /** Milliseconds after which an endpoint with a silent far end is ended, unless it is held; 0: never. */
  readonly silenceLimitMs?: number;
  /** True for a server of another site, which is used when no other accepts an endpoint. */
  readonly isRemote?: boolean;
}

/** A way to call media servers: a SIP server, or messages within the process. */
export interface MediaRoute {
  readonly name: string;
  /** The application object of drachtio-srf, or what does its part. */
  readonly srfForMedia: object;
  readonly connected: boolean;
  /** Has `take` get the connections of channels that do not come by TCP. */
  onControl?(take: (socket: object) => void): void;
}

/** Milliseconds between reconnection attempts. The library's default doubles them without limit. */
const RECONNECT_MS = 2000;

/** Receives what a media server reports of its channels. */
export interface LinkListener {
  /** A recording is complete. */
  recorded(file: string, end: RecordingEnd): void;
  /** A channel has ended: CHANNEL_HANGUP_COMPLETE. */
  ended(event: FsEvent): void;
}

/** The connection to one FreeSWITCH, whose endpoints are called by one SIP server. It reconnects after a loss. */
export class MediaLink {
  readonly route: MediaRoute;
  readonly #server: FsMediaServer;
  #connected = true;
  #watchesConferences = false;

  private constructor(server: FsMediaServer, route: MediaRoute, listener: LinkListener) {
    this.#server = server;
    this.route = route;
    const { conn } = server;
    conn.reconnectOpts.retryMaxDelay = RECONNECT_MS;
    this.#subscribe();
    conn.on('esl::ready', () => {
      this.#connected = true;
      this.#subscribe();
      if (this.#watchesConferences) this.#subscribeConferences();
    });
    conn.on('esl::end', () => {
      this.#connected = false;
    });
    conn.on('esl::event::RECORD_STOP::*', (event) => {
      const broken = event.getHeader('Record-Completion-Cause') === 'uri-failure';
      listener.recorded(event.getHeader('Record-File-Path') ?? '', broken ? 'broken' : 'whole');
    });
    conn.on('esl::event::CUSTOM::*', (event) => {
      if (event.getHeader('Action') === 'stop-recording') listener.recorded(event.getHeader('Path') ?? '', 'whole');
    });
    conn.on('esl::event::CHANNEL_HANGUP_COMPLETE::*', (event) => listener.ended(event));
    // The library's own listener for connections from the media server; if it moves in a future version, only speed is
    // lost.
    // oxlint-disable-next-line eslint/no-underscore-dangle -- no public access
    const outbound = server._server;
    outbound?.on('connection::open', subscribeOnDemand);
    if (outbound) countQuickly(outbound);
    route.onControl?.((socket) => outbound?.server?.emit('connection', socket as Socket));
  }

  /**
   * Connects to the event socket.
   * @throws MediaLinkError after `timeoutMs`, or immediately when the server refuses
   */
  static async connect(
    route: MediaRoute,
    address: MediaServerAddress,
    listener: LinkListener,
    timeoutMs = 5000,
  ): Promise<MediaLink> {
    const where = `${address.host}:${address.port}`;
    readEventsQuickly();
    sendCommandsWhole();
    await probeEventSocket(address, timeoutMs);
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new MediaLinkError(`the media server at ${where} was not ready in ${timeoutMs} ms`)),
        timeoutMs,
      );
    });
    try {
      const connecting = new Mrf(answeringByFirstCodec(route.srfForMedia)).connect({
        address: address.host,
        port: address.port,
        secret: address.password,
        listenAddress: address.listenAddress,
        listenPort: 0,
        profile: address.profile,
      });
      return new MediaLink(await Promise.race([connecting, tooLate]), route, listener);
    } catch (error) {
      if (error instanceof MediaLinkError) throw error;
      throw new MediaLinkError(`the media server at ${where} cannot be used`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** True when endpoints can be created through this connection. */
  get usable(): boolean {
    return this.connected && this.route.connected;
  }

  get connected(): boolean {
    return this.#connected && this.#server.connected();
  }

  createEndpoint(options: { remoteSdp?: string; headers?: Record<string, string> }): Promise<FsEndpoint> {
    return this.#server.createEndpoint(options);
  }

  /**
   * Subscribes to the ends of conference recordings, which belong to no member. Without them, a node is spared all
   * other conference events.
   */
  watchConferences(): void {
    if (this.#watchesConferences) return;
    this.#watchesConferences = true;
    this.#subscribeConferences();
  }

  api(command: string): Promise<string> {
    return this.#server.api(command);
  }

  close(): void {
    this.#server.disconnect();
  }

  /** On this connection, not the channel's own: that ends with the channel, and these events come after its end. */
  #subscribe(): void {
    const { conn, advertisedAddress, advertisedPort } = this.#server;
    // Of a media server that several nodes share, only the ends of this link's channels.
    conn.filter('variable_sip_h_X-esl-outbound', `${advertisedAddress}:${advertisedPort}`);
    for (const name of ['HEARTBEAT', 'RECORD_STOP', 'CUSTOM']) conn.filter('Event-Name', name);
    // The embedded media server writes a tenth of the event then. FreeSWITCH does not know the command.
    conn.sendRecv(`brief CHANNEL_HANGUP_COMPLETE ${FIGURE_HEADERS.join(' ')}`);
    conn.subscribe(['RECORD_STOP', 'CHANNEL_HANGUP_COMPLETE']);
  }

  #subscribeConferences(): void {
    this.#server.conn.subscribe(['CUSTOM conference::maintenance']);
  }
}

/**
 * Replaces the library's names of connections, which are random, in a Buffer whose use Node warns of by looking at the stack, and its
 * count of them, for which it lists all twice for each channel.
 */
function countQuickly(server: FsListener): void {
  let opened = 0;
  let closed = 0;
  server.on('connection::close', () => {
    closed += 1;
  });
  Object.assign(server, { _generateId: () => `c${(opened += 1)}`, getCountOfConnections: () => opened - closed });
}
