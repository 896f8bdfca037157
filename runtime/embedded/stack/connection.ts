/** One connection of a stream transport. */
import { SipParseError, SipTransportError } from './errors.ts';
import { KeepAlive, keepAliveTimes } from './keep-alive.ts';
import type { DeliveryFailure, Source, TransportEvents } from './transport.ts';
import { formatHostPort } from './uri.ts';

/** Limits of connections, against slow or silent peers. */
export interface TcpLimits {
  /** Accepted and opened connections together, of one listener. */
  readonly maxConnections: number;
  /**
   * Accepted connections of one listener that have not sent a message yet, unfinished handshakes included. Beyond it the
   * oldest of them is closed, so that a flood of silent ones keeps no phone out.
   */
  readonly maxSilent: number;
  /**
   * Limit for a message from its first byte to its last, for the first message or keep-alive of a new connection, and
   * for a handshake (TLS, WebSocket), ms.
   */
  readonly messageTimeout: number;
  /** Largest number of bytes queued for a peer that does not read. */
  readonly maxQueuedBytes: number;
  /**
   * Time without a message after which a connection that this side opened is closed, ms. One that it registered over stays, and
   * so do accepted ones, for their phone.
   */
  readonly idleTimeout: number;
  /** Time to connect, ms. */
  readonly connectTimeout: number;
}

export const DEFAULT_TCP_LIMITS: TcpLimits = {
  maxConnections: 16_384,
  maxSilent: 1024,
  messageTimeout: 10_000,
  maxQueuedBytes: 1 << 20,
  idleTimeout: 600_000,
  connectTimeout: 10_000,
};

/** What carries the bytes of a connection: a TCP or TLS socket, or a WebSocket. */
export interface Carrier {
  /** Bytes that wait to be sent. */
  readonly queued: number;
  /** Whether nothing can be sent any more. */
  readonly closed: boolean;
  /** This side's address; undefined once it is closed. */
  readonly localAddress?: string | undefined;
  /** Sends a message or a keep-alive. */
  write(data: Buffer): void;
  /** Closes after what is queued has been sent. */
  end(): void;
  destroy(): void;
}

/** Finds the messages in what arrives. */
export interface Reader {
  /** Whether a message is incomplete. */
  readonly midMessage: boolean;
  /** @throws SipParseError */
  push(chunk: Buffer): void;
}

/** What a connection needs of its transport. */
export interface ConnectionOwner {
  readonly events: TransportEvents;
  readonly limits: TcpLimits;
  /** The peer has sent its first message. */
  spoke(): void;
  closed(): void;
}

const PING = Buffer.from('\r\n\r\n');
const PONG = Buffer.from('\r\n');
const REGISTER = Buffer.from('REGISTER ');

/** A connection and the requests that wait for it. A peer's connection is used in both directions. */
export class Connection {
  readonly source: Source;
  readonly #carrier: Carrier;
  readonly #owner: ConnectionOwner;
  readonly #waiting = new Set<DeliveryFailure>();
  #messageTimer: NodeJS.Timeout | undefined;
  #error: SipTransportError | undefined;
  #closed = false;
  #spoke = false;
  #keepAlive: KeepAlive | undefined;

  constructor(carrier: Carrier, source: Source, owner: ConnectionOwner) {
    this.#carrier = carrier;
    this.source = source;
    this.#owner = owner;
  }

  /** This side's address; undefined once it is closed. */
  get localAddress(): string | undefined {
    return this.#carrier.localAddress;
  }

  send(data: Buffer, failure: DeliveryFailure | undefined): void {
    if (failure !== undefined) this.#waiting.add(failure);
    this.#keepAlive?.message(data.subarray(0, REGISTER.length).equals(REGISTER));
    this.#write(data);
  }

  /** Removes `failure` when its transaction has ended. */
  release(failure: DeliveryFailure): void {
    this.#waiting.delete(failure);
  }

  destroy(): void {
    this.#carrier.destroy();
  }

  /** Sets the time limit for the first message of an accepted connection. */
  expectMessage(): void {
    const { messageTimeout } = this.#owner.limits;
    this.#messageTimer ??= setTimeout(() => this.fail('closed', 'message not completed'), messageTimeout);
  }

  /** Reports a message that the reader has found. */
  message(message: Parameters<TransportEvents['message']>[0]): void {
    // Each message has a limit of its own: on a busy connection one is always incomplete.
    this.#messageDone();
    this.#keepAlive?.message(false);
    this.#owner.events.message(message, this.source);
  }

  /** Answers a keep-alive (RFC 5626 section 4.4.1). */
  ping(): void {
    this.#write(PONG);
  }

  /** Keeps a connection that this side opened alive. @param pinged called before a ping is sent */
  keepAlive(pinged: () => void): void {
    this.#keepAlive = new KeepAlive(
      {
        ping: () => {
          pinged();
          this.#write(PING);
        },
        idle: () => this.#carrier.end(),
        dead: () => this.fail('closed', 'no answer to a keep-alive'),
      },
      keepAliveTimes(this.#owner.limits.idleTimeout),
    );
  }

  /** The peer answered a keep-alive of this side. */
  pong(): void {
    this.#keepAlive?.pong();
  }

  /** Takes what has arrived. */
  receive(chunk: Buffer, reader: Reader): void {
    try {
      reader.push(chunk);
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      // The next message cannot be found any more: answer with 400 if possible, then close (RFC 3261 section 18.3).
      this.#owner.events.malformed(error, this.source);
      this.#carrier.end();
      return;
    }
    if (reader.midMessage) this.expectMessage();
    else this.#messageDone();
  }

  /** Gives the connection up. */
  fail(reason: SipTransportError['reason'], detail: string): void {
    this.broken(reason, detail);
    this.#carrier.destroy();
  }

  /** Notes why the connection is about to close. */
  broken(reason: SipTransportError['reason'], detail: string): void {
    this.#error ??= new SipTransportError(reason, this.#target(), detail);
  }

  /** The connection has closed: reports it to the requests that wait. */
  ended(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#messageTimer);
    this.#keepAlive?.end();
    this.#owner.closed();
    if (this.#keepAlive?.registers === true) this.#owner.events.lost?.(this.source);
    const error = this.#error ?? new SipTransportError('closed', this.#target());
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const failure of waiting) failure(error);
  }

  #write(data: Buffer): void {
    if (this.#carrier.closed) return;
    this.#carrier.write(data);
    if (this.#carrier.queued > this.#owner.limits.maxQueuedBytes) this.fail('closed', 'the peer does not read');
  }

  #messageDone(): void {
    clearTimeout(this.#messageTimer);
    this.#messageTimer = undefined;
    if (this.#spoke) return;
    this.#spoke = true;
    this.#owner.spoke();
  }

  #target(): string {
    return `${this.source.transport}/${formatHostPort(this.source.address, this.source.port)}`;
  }
}

/** Why a connection could not be opened, or broke. */
export function reasonOf(error: NodeJS.ErrnoException): 'refused' | 'closed' | 'unreachable' {
  if (error.code === 'ECONNREFUSED') return 'refused';
  if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return 'closed';
  return 'unreachable';
}
