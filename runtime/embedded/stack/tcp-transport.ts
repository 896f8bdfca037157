/** SIP over TCP. */
import { createServer, connect as netConnect, type Server, type Socket } from 'node:net';
import { ListenError } from '../listen-error.ts';
import { SipParseError, SipTransportError } from './errors.ts';
import type { ParseLimits } from './parse-message.ts';
import { StreamFramer } from './stream-framer.ts';
import type { DeliveryFailure, ListeningPoint, Source, TransportEvents } from './transport.ts';
import { formatHostPort, isPort } from './uri.ts';

/** Limits of connections, against slow or silent peers. */
export interface TcpLimits {
  /** Accepted and opened connections together. */
  readonly maxConnections: number;
  /**
   * Limit for a message from its first byte to its last, and for the first message or keep-alive of a new connection,
   * ms.
   */
  readonly messageTimeout: number;
  /** Largest number of bytes queued for a peer that does not read. */
  readonly maxQueuedBytes: number;
  /**
   * Idle time after which a connection that this side opened is closed, ms. Accepted ones stay open for their phone.
   */
  readonly idleTimeout: number;
  /** Time to connect, ms. */
  readonly connectTimeout: number;
}

export const DEFAULT_TCP_LIMITS: TcpLimits = {
  maxConnections: 16_384,
  messageTimeout: 10_000,
  maxQueuedBytes: 1 << 20,
  idleTimeout: 600_000,
  connectTimeout: 10_000,
};

const PONG = Buffer.from('\r\n');

/** One listening TCP socket and its connections. A peer's connection is used in both directions. */
export class TcpTransport {
  readonly #server: Server;
  readonly #events: TransportEvents;
  readonly #limits: ParseLimits;
  readonly #tcp: TcpLimits;
  readonly #connections = new Map<string, TcpConnection>();
  #point: ListeningPoint = { transport: 'tcp', host: '', port: 0 };

  private constructor(server: Server, events: TransportEvents, limits: ParseLimits, tcp: TcpLimits) {
    this.#server = server;
    this.#events = events;
    this.#limits = limits;
    this.#tcp = tcp;
  }

  /** @throws ListenError when the address cannot be bound. */
  static async open(
    host: string,
    port: number,
    events: TransportEvents,
    limits: ParseLimits,
    tcp: TcpLimits = DEFAULT_TCP_LIMITS,
  ): Promise<TcpTransport> {
    const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
    const transport = new TcpTransport(server, events, limits, tcp);
    server.on('connection', (socket) => transport.#accept(socket));
    await new Promise<void>((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException): void => {
        reject(new ListenError(error.code ?? 'UNKNOWN', `tcp/${formatHostPort(host, port)}`, 'SIP'));
      };
      server.once('error', failed);
      server.listen({ host, port, exclusive: true }, () => {
        server.off('error', failed);
        // Errors such as EMFILE lose one connection; the server goes on.
        server.on('error', () => undefined);
        resolve();
      });
    });
    const address = server.address();
    transport.#point = {
      transport: 'tcp',
      host,
      port: typeof address === 'object' && address !== null ? address.port : port,
    };
    return transport;
  }

  get point(): ListeningPoint {
    return this.#point;
  }

  /** Open sockets, the listening one included. */
  get sockets(): number {
    return 1 + this.#connections.size;
  }

  /** Whether a connection to that remote address is open. */
  connected(address: string, port: number): boolean {
    return this.#connections.has(formatHostPort(address, port));
  }

  /**
   * Sends over the open connection to that remote address, whichever side opened it, or over a new one.
   * @param failure called when the bytes cannot be sent, or the connection ends before {@link release}.
   */
  send(data: Buffer, address: string, port: number, failure?: DeliveryFailure): void {
    const key = formatHostPort(address, port);
    let connection = this.#connections.get(key);
    if (connection === undefined) {
      if (!isPort(port)) {
        queueMicrotask(() => failure?.(new SipTransportError('unreachable', `tcp/${key}`, 'no port to connect to')));
        return;
      }
      if (this.#connections.size >= this.#tcp.maxConnections) {
        queueMicrotask(() => failure?.(new SipTransportError('unreachable', `tcp/${key}`, 'too many connections')));
        return;
      }
      const socket = netConnect({ host: address, port, noDelay: true, keepAlive: true });
      connection = this.#adopt(socket, address, port, true);
    }
    connection.send(data, failure);
  }

  /** Removes `failure` when its transaction has ended, so that the end of the connection is not reported to it. */
  release(address: string, port: number, failure: DeliveryFailure): void {
    this.#connections.get(formatHostPort(address, port))?.release(failure);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections.values()) connection.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined || remotePort === undefined || this.#connections.size >= this.#tcp.maxConnections) {
      socket.destroy();
      return;
    }
    this.#adopt(socket, remoteAddress.replace(/^::ffff:/, ''), remotePort, false);
  }

  #adopt(socket: Socket, address: string, port: number, outbound: boolean): TcpConnection {
    const key = formatHostPort(address, port);
    const source: Source = { transport: 'tcp', address, port, local: this.#point };
    const connection = new TcpConnection(socket, source, this.#events, this.#limits, this.#tcp, outbound, () => {
      if (this.#connections.get(key) === connection) this.#connections.delete(key);
    });
    this.#connections.set(key, connection);
    return connection;
  }
}

class TcpConnection {
  readonly #socket: Socket;
  readonly #source: Source;
  readonly #tcp: TcpLimits;
  readonly #framer: StreamFramer;
  readonly #events: TransportEvents;
  readonly #waiting = new Set<DeliveryFailure>();
  #messageTimer: NodeJS.Timeout | undefined;
  #error: SipTransportError | undefined;

  constructor(
    socket: Socket,
    source: Source,
    events: TransportEvents,
    limits: ParseLimits,
    tcp: TcpLimits,
    outbound: boolean,
    closed: () => void,
  ) {
    this.#socket = socket;
    this.#source = source;
    this.#tcp = tcp;
    this.#events = events;
    this.#framer = new StreamFramer(
      {
        message: (message) => {
          // Each message has a limit of its own: on a busy connection one is always incomplete.
          this.#messageDone();
          events.message(message, source);
        },
        ping: () => this.#write(PONG),
      },
      limits,
    );
    if (outbound) {
      socket.setTimeout(tcp.connectTimeout, () => this.#fail('unreachable', 'no answer'));
      socket.once('connect', () => socket.setTimeout(tcp.idleTimeout));
    } else this.#expectMessage();
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => socket.end());
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#error ??= new SipTransportError(reasonOf(error), this.#target(), error.code ?? error.message);
    });
    socket.on('close', () => {
      clearTimeout(this.#messageTimer);
      closed();
      const error = this.#error ?? new SipTransportError('closed', this.#target());
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const failure of waiting) failure(error);
    });
  }

  send(data: Buffer, failure: DeliveryFailure | undefined): void {
    if (failure !== undefined) this.#waiting.add(failure);
    this.#write(data);
  }

  release(failure: DeliveryFailure): void {
    this.#waiting.delete(failure);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #write(data: Buffer): void {
    if (this.#socket.destroyed) return;
    this.#socket.write(data);
    if (this.#socket.writableLength > this.#tcp.maxQueuedBytes) this.#fail('closed', 'the peer does not read');
  }

  #receive(chunk: Buffer): void {
    try {
      this.#framer.push(chunk);
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      // The next message cannot be found any more: answer with 400 if possible, then close (RFC 3261 section 18.3).
      this.#events.malformed(error, this.#source);
      this.#socket.end();
      this.#socket.destroySoon();
      return;
    }
    if (this.#framer.midMessage) this.#expectMessage();
    else this.#messageDone();
  }

  #messageDone(): void {
    clearTimeout(this.#messageTimer);
    this.#messageTimer = undefined;
  }

  #expectMessage(): void {
    this.#messageTimer ??= setTimeout(() => this.#fail('closed', 'message not completed'), this.#tcp.messageTimeout);
  }

  #fail(reason: 'closed' | 'unreachable', detail: string): void {
    this.#error ??= new SipTransportError(reason, this.#target(), detail);
    this.#socket.destroy();
  }

  #target(): string {
    return `tcp/${formatHostPort(this.#source.address, this.#source.port)}`;
  }
}

function reasonOf(error: NodeJS.ErrnoException): 'refused' | 'closed' | 'unreachable' {
  if (error.code === 'ECONNREFUSED') return 'refused';
  if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return 'closed';
  return 'unreachable';
}
