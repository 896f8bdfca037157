/** SIP over WebSockets (RFC 7118): the handshake, and messages in frames. Loaded with the first connection. */
import { isUtf8 } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Carrier, Connection, Reader } from './connection.ts';
import { type ParseLimits, parseMessage } from './parse-message.ts';
import type { ListeningPoint } from './transport.ts';
import { FORWARDED_HEADER, type WebSocketRules } from './websocket-rules.ts';

/** An accepted WebSocket. */
export interface WebSocketPeer {
  readonly carrier: Carrier;
  readonly socket: Socket;
  /** The phone behind a proxy. */
  readonly forwarded: { readonly address: string; readonly port: number; readonly local: ListeningPoint } | undefined;
  /** Passes what arrives to the connection. */
  attach(connection: Connection): void;
}

/** What a {@link WebSocketFront} reports. */
export interface WebSocketFrontEvents {
  opened(peer: WebSocketPeer): void;
  refused(reason: string, socket: Socket): void;
}

const PROTOCOL = 'sip';
/** Interval of WebSocket pings, which find dead connections and keep those through NAT open, ms. */
const PING_INTERVAL = 30_000;
const PING = Buffer.from('\r\n\r\n');

/** Accepts WebSockets on sockets that a listener has accepted. */
export class WebSocketFront {
  readonly #rules: WebSocketRules;
  readonly #points: readonly ListeningPoint[];
  readonly #limits: ParseLimits;
  readonly #handshakeTimeout: number;
  readonly #events: WebSocketFrontEvents;
  readonly #http: Server;
  readonly #server: WebSocketServer;
  readonly #alive = new WeakSet<WebSocket>();
  readonly #pings: NodeJS.Timeout;
  readonly #timers = new WeakMap<Duplex, NodeJS.Timeout>();

  /**
   * @param points the listening points of phones behind a proxy, for `ws` and for `wss`
   * @param handshakeTimeout ms
   */
  constructor(
    rules: WebSocketRules,
    points: readonly ListeningPoint[],
    limits: ParseLimits,
    handshakeTimeout: number,
    events: WebSocketFrontEvents,
  ) {
    this.#rules = rules;
    this.#points = points;
    this.#limits = limits;
    this.#handshakeTimeout = handshakeTimeout;
    this.#events = events;
    this.#http = createServer({ maxHeaderSize: 8192 }, (_request, response) => {
      response.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end();
    });
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head));
    this.#http.on('clientError', (_error, socket) => socket.destroy());
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: limits.maxMessageBytes,
      perMessageDeflate: false,
      handleProtocols: () => PROTOCOL,
    });
    this.#server.on('wsClientError', (error, socket, request) =>
      this.#refuse(request, socket as Socket, 400, error.message),
    );
    this.#pings = setInterval(() => this.#ping(), PING_INTERVAL).unref();
  }

  /** Reads the handshake of an open connection. */
  accept(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), this.#handshakeTimeout);
    this.#timers.set(socket, timer);
    socket.once('close', () => clearTimeout(timer));
    this.#http.emit('connection', socket);
  }

  close(): void {
    clearInterval(this.#pings);
    for (const client of this.#server.clients) client.terminate();
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const offered = request.headers['sec-websocket-protocol']?.split(',').map((one) => one.trim().toLowerCase()) ?? [];
    const { forwarded: rule } = this.#rules;
    const forwarded = rule === undefined ? undefined : forwardedBy(request, rule.secret, this.#points);
    if (rule !== undefined && forwarded === undefined) this.#refuse(request, socket, 403, 'not from the HTTP server');
    else if (rule === undefined && !isAllowed(request, this.#rules.origins ?? []))
      this.#refuse(request, socket, 403, `origin ${request.headers.origin ?? ''} is not allowed`);
    else if (!offered.includes(PROTOCOL))
      this.#refuse(request, socket, 400, `the WebSocket subprotocol "${PROTOCOL}" is missing`);
    else
      this.#server.handleUpgrade(request, socket, head, (webSocket) => {
        clearTimeout(this.#timers.get(socket));
        this.#opened(webSocket, socket, forwarded);
      });
  }

  #opened(webSocket: WebSocket, socket: Socket, forwarded: WebSocketPeer['forwarded']): void {
    this.#alive.add(webSocket);
    webSocket.on('pong', () => this.#alive.add(webSocket));
    this.#events.opened({
      carrier: carrierOf(webSocket),
      socket,
      forwarded,
      attach: (connection) => {
        const reader = new FrameReader(connection, this.#limits);
        webSocket.on('message', (data: Buffer) => {
          this.#alive.add(webSocket);
          connection.receive(data, reader);
        });
        webSocket.on('error', (error) => connection.broken('closed', error.message));
        webSocket.on('close', () => connection.ended());
      },
    });
  }

  #refuse(request: IncomingMessage, socket: Socket, status: number, reason: string): void {
    this.#events.refused(`WebSocket: ${reason} (${request.url ?? ''})`, socket);
    const text = `${reason}\n`;
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
    );
  }

  #ping(): void {
    for (const client of this.#server.clients) {
      if (this.#alive.delete(client)) client.ping();
      else client.terminate();
    }
  }
}

/** Each frame is a message or a keep-alive. */
class FrameReader implements Reader {
  readonly midMessage = false;
  readonly #connection: Connection;
  readonly #limits: ParseLimits;

  constructor(connection: Connection, limits: ParseLimits) {
    this.#connection = connection;
    this.#limits = limits;
  }

  push(frame: Buffer): void {
    if (frame.equals(PING)) this.#connection.ping();
    else if (frame.length >= PING.length) this.#connection.message(parseMessage(frame, this.#limits));
  }
}

function carrierOf(webSocket: WebSocket): Carrier {
  return {
    get queued() {
      return webSocket.bufferedAmount;
    },
    get closed() {
      return webSocket.readyState !== webSocket.OPEN;
    },
    // A text frame must be UTF-8 (RFC 6455 section 5.6).
    write: (data) => webSocket.send(data, { binary: !isUtf8(data) }),
    end: () => webSocket.close(1002),
    destroy: () => webSocket.terminate(),
  };
}

/** A program names no origin; a page must be of the same host, on any port, or of a listed origin. */
function isAllowed({ headers }: IncomingMessage, origins: readonly string[]): boolean {
  const { origin, host } = headers;
  if (origin === undefined || origins.includes('*') || origins.includes(origin.toLowerCase())) return true;
  if (!URL.canParse(origin) || host === undefined || !URL.canParse(`http://${host}`)) return false;
  return new URL(origin).hostname === new URL(`http://${host}`).hostname;
}

function forwardedBy(
  { headers }: IncomingMessage,
  secret: string,
  points: readonly ListeningPoint[],
): WebSocketPeer['forwarded'] {
  const [given = '', transport, address, port] = String(headers[FORWARDED_HEADER] ?? '').split(' ');
  const [mine, theirs] = [Buffer.from(secret), Buffer.from(given)];
  if (mine.length !== theirs.length || !timingSafeEqual(mine, theirs)) return undefined;
  const local = points.find((point) => point.transport === transport);
  return local === undefined || address === undefined ? undefined : { address, port: Number(port), local };
}
