/** SIP over TCP, TLS and WebSockets. */
import { createServer, connect as netConnect, type Server, type Socket } from 'node:net';
import { ListenError } from '../listen-error.ts';
import { type Carrier, Connection, type TcpLimits } from './connection.ts';
import { SipTransportError } from './errors.ts';
import type { ParseLimits } from './parse-message.ts';
import { SecureClient, type Trust } from './secure-client.ts';
import { type Certificate, SecureServer } from './secure-server.ts';
import { attach, bare, dial, remoteKey, socketCarrier } from './stream-sockets.ts';
import {
  type DeliveryFailure,
  isSecure,
  isWebSocket,
  type ListeningPoint,
  type Source,
  type TransportEvents,
  type TransportName,
} from './transport.ts';
import { formatHostPort, isPort } from './uri.ts';
import type { WebSocketFront, WebSocketPeer } from './websocket-front.ts';
import type { WebSocketRules } from './websocket-rules.ts';

/** What a {@link StreamTransport} listens for. */
export interface StreamOptions {
  readonly transport: Exclude<TransportName, 'udp'>;
  readonly host: string;
  readonly port: number;
  readonly events: TransportEvents;
  readonly limits: ParseLimits;
  readonly tcp: TcpLimits;
  /** For `tls` and `wss`. */
  readonly certificate?: Certificate;
  /** For certificates of servers; absent: the authorities of Node and of the system. */
  readonly trust?: Trust;
  /** For `ws` and `wss`. */
  readonly webSocket?: WebSocketRules;
}

/** One listening socket and its connections. */
export class StreamTransport {
  readonly #options: StreamOptions;
  readonly #server: Server;
  #secure: SecureServer | undefined;
  #client: SecureClient | undefined;
  #front: Promise<WebSocketFront> | undefined;
  /** Open connections by the address of their peer. */
  readonly #connections = new Map<string, Connection>();
  /** Those over TLS to a host name, by that and the address: another name needs a certificate for it. */
  readonly #named = new Map<string, Connection>();
  /** All sockets, unfinished handshakes included. */
  readonly #sockets = new Set<Socket>();
  /** Accepted sockets without a message, by the address of their peer, the oldest first. */
  readonly #silent = new Map<string, Socket>();
  #point: ListeningPoint;
  /** All points of this listener: behind a proxy, one for each kind of WebSocket. */
  #points: readonly ListeningPoint[] = [];
  #closed = false;

  private constructor(options: StreamOptions) {
    this.#options = options;
    this.#point = { transport: options.transport, host: options.host, port: options.port };
    this.#server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
    this.#server.on('connection', (socket) => this.#accept(socket));
  }

  /** @throws ListenError when the address cannot be bound. */
  static async open(options: StreamOptions): Promise<StreamTransport> {
    const transport = new StreamTransport(options);
    await transport.#listen();
    return transport;
  }

  get point(): ListeningPoint {
    return this.#point;
  }

  get points(): readonly ListeningPoint[] {
    return this.#points;
  }

  /** Open sockets, the listening one included. */
  get sockets(): number {
    return 1 + this.#sockets.size;
  }

  /** Whether requests for this transport can be sent here: WebSockets of both kinds are used for either. */
  serves(transport: TransportName): boolean {
    const own = this.#options.transport;
    return own === transport || (isWebSocket(own) && isWebSocket(transport));
  }

  /** Whether this listener received the message. */
  received(source: Source): boolean {
    return this.#points.includes(source.local);
  }

  /** Whether a connection to that remote address is open. */
  connected(address: string, port: number): boolean {
    return this.#connections.has(formatHostPort(address, port));
  }

  /** The listening point of the connection to that remote address, or of the next one. */
  pointTowards(address: string, port: number): ListeningPoint {
    return this.#connections.get(formatHostPort(address, port))?.source.local ?? this.#point;
  }

  /** This side's address of the connection to that remote address; undefined without one. */
  localAddress(address: string, port: number): string | undefined {
    const connection = this.#connections.get(formatHostPort(address, port));
    // The listener behind a proxy sees the proxy's address.
    return this.#options.webSocket?.forwarded === undefined ? connection?.localAddress : undefined;
  }

  /**
   * Sends over the open connection to that remote address, whichever side opened it, or over a new one.
   * @param failure called when the bytes cannot be sent, or the connection ends before {@link release}.
   * @param name host name that the address was looked up from
   */
  send(data: Buffer, address: string, port: number, failure?: DeliveryFailure, name?: string): void {
    const connection = this.#open(address, port, name) ?? this.#connect(address, port, name);
    if (connection instanceof Connection) connection.send(data, failure);
    else queueMicrotask(() => failure?.(connection));
  }

  /** Removes `failure` when its transaction has ended, so that the end of the connection is not reported to it. */
  release(address: string, port: number, failure: DeliveryFailure, name?: string): void {
    this.#open(address, port, name)?.release(failure);
  }

  /** Uses another certificate for connections from now on. */
  replaceCertificate(certificate: Certificate): void {
    this.#secure?.replace(certificate);
    this.#client?.replace(certificate);
  }

  /** Checks certificates of servers against this from now on. */
  trust(trust: Trust): void {
    this.#client?.trust(trust);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    void this.#front?.then((front) => front.close());
    for (const connection of [...this.#connections.values(), ...this.#named.values()]) connection.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #listen(): Promise<void> {
    const { transport, host, port, tcp, certificate, trust = {}, webSocket } = this.#options;
    if (isSecure(transport)) {
      if (certificate === undefined) throw new RangeError(`${transport}: a certificate is missing`);
      // Loaded only with a certificate: a node without one starts faster.
      const tls = await import('node:tls');
      this.#client = new SecureClient(tls, certificate, trust);
      this.#secure = new SecureServer(tls, certificate, tcp.messageTimeout, {
        secured: (socket) => this.#opened(socket),
        refused: (reason, socket) => this.#refused(`TLS: ${reason}`, socket),
      });
    }
    await new Promise<void>((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException): void => {
        reject(new ListenError(error.code ?? 'UNKNOWN', `${transport}/${formatHostPort(host, port)}`, 'SIP'));
      };
      this.#server.once('error', failed);
      this.#server.listen({ host, port, exclusive: true, ipv6Only: true }, () => {
        this.#server.off('error', failed);
        // Errors such as EMFILE lose one connection; the server goes on.
        this.#server.on('error', () => undefined);
        resolve();
      });
    });
    const address = this.#server.address();
    const bound = typeof address === 'object' && address !== null ? address.port : port;
    this.#point = { transport, host, port: bound };
    const behind = webSocket?.forwarded?.host;
    this.#points =
      behind === undefined
        ? [this.#point]
        : (['ws', 'wss'] as const).map((seen) => ({ transport: seen, host: behind, port: bound }));
  }

  #accept(socket: Socket): void {
    const key = remoteKey(socket);
    const { maxConnections, maxSilent } = this.#options.tcp;
    if (key === undefined || this.#closed || this.#sockets.size >= maxConnections) {
      socket.destroy();
      return;
    }
    this.#track(socket);
    this.#silent.set(key, socket);
    socket.once('close', () => {
      if (this.#silent.get(key) === socket) this.#silent.delete(key);
    });
    const [oldest] = this.#silent.values();
    if (this.#silent.size > maxSilent) oldest?.destroy();
    if (this.#secure === undefined) this.#opened(socket);
    else {
      socket.on('error', () => undefined);
      this.#secure.accept(socket);
    }
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  /** A socket is accepted, and its TLS handshake is done. */
  #opened(socket: Socket): void {
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined || remotePort === undefined) socket.destroy();
    else if (this.#options.webSocket === undefined) {
      const connection = this.#adopted(socket, bare(remoteAddress), remotePort);
      attach(socket, connection, this.#options.limits);
      connection.expectMessage();
    } else void this.#upgrade(socket);
  }

  /** The open connection to an address, under that name. */
  #open(address: string, port: number, name: string | undefined): Connection | undefined {
    const key = formatHostPort(address, port);
    if (this.#client === undefined || name === undefined) return this.#connections.get(key);
    return this.#named.get(namedKey(name, key));
  }

  /** Opens a connection, or says why there is none. */
  #connect(address: string, port: number, name: string | undefined): Connection | SipTransportError {
    const { transport, tcp } = this.#options;
    const key = formatHostPort(address, port);
    const unreachable = (why: string) => new SipTransportError('unreachable', `${transport}/${key}`, why);
    if (isWebSocket(transport))
      return new SipTransportError('closed', `${transport}/${key}`, 'only the phone can open its WebSocket');
    if (!isPort(port)) return unreachable('no port to connect to');
    if (this.#sockets.size >= tcp.maxConnections) return unreachable('too many connections');
    const client = this.#client;
    const socket =
      client === undefined
        ? netConnect({ host: address, port, noDelay: true, keepAlive: true })
        : client.connect(address, port, name);
    this.#track(socket);
    const connection = this.#adopted(socket, address, port);
    dial(socket, connection, {
      limits: this.#options.limits,
      secure: client !== undefined,
      timeout: tcp.connectTimeout,
    });
    if (client !== undefined && name !== undefined) this.#name(namedKey(name, key), socket, connection);
    return connection;
  }

  #name(key: string, socket: Socket, connection: Connection): void {
    this.#named.set(key, connection);
    socket.once('close', () => {
      if (this.#named.get(key) === connection) this.#named.delete(key);
    });
  }

  #adopted(socket: Socket, address: string, port: number): Connection {
    return this.#register(socketCarrier(socket), { address, port, local: this.#point }, address, port);
  }

  /** @param peer of the socket, which is a proxy's for a forwarded WebSocket */
  #register(
    carrier: Carrier,
    { address, port, local }: { address: string; port: number; local: ListeningPoint },
    ...peer: [address: string, port: number]
  ): Connection {
    const key = formatHostPort(address, port);
    const silentKey = formatHostPort(...peer);
    const source: Source = { transport: local.transport, address, port, local };
    const connection = new Connection(carrier, source, {
      events: this.#options.events,
      limits: this.#options.tcp,
      spoke: () => this.#silent.delete(silentKey),
      closed: () => {
        if (this.#connections.get(key) === connection) this.#connections.delete(key);
      },
    });
    this.#connections.set(key, connection);
    return connection;
  }

  async #upgrade(socket: Socket): Promise<void> {
    socket.on('error', () => undefined);
    const { limits, tcp, webSocket = {} } = this.#options;
    this.#front ??= import('./websocket-front.ts').then(
      (module) =>
        new module.WebSocketFront(webSocket, this.#points, limits, tcp.messageTimeout, {
          opened: (peer) => this.#webSocketOpened(peer),
          refused: (reason, refused) => this.#refused(reason, refused),
        }),
    );
    const front = await this.#front;
    if (this.#closed) socket.destroy();
    else front.accept(socket);
  }

  #webSocketOpened(peer: WebSocketPeer): void {
    const { carrier, socket, forwarded } = peer;
    const address = bare(socket.remoteAddress ?? '');
    const port = socket.remotePort ?? 0;
    const seen = forwarded ?? { address, port, local: this.#point };
    peer.attach(this.#register(carrier, seen, address, port));
  }

  #refused(reason: string, socket: Socket): void {
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined || remotePort === undefined) return;
    const { transport } = this.#options;
    this.#options.events.refused?.(reason, {
      transport,
      address: bare(remoteAddress),
      port: remotePort,
      local: this.#point,
    });
  }
}

function namedKey(name: string, address: string): string {
  return `${name.toLowerCase()} ${address}`;
}
