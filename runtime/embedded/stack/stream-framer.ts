/** Splits TCP streams into SIP messages. */
import { SipParseError } from './errors.ts';
import type { SipRequest, SipResponse } from './message.ts';
import {
  contentLength,
  DEFAULT_LIMITS,
  findHeadEnd,
  type ParseLimits,
  parseHead,
  skipLineBreaks,
} from './parse-message.ts';
import { RejectedMessageError } from './rejected-message.ts';

/** What a {@link StreamFramer} finds in a byte stream. */
export interface FramerEvents {
  /** One whole message. */
  message(message: SipRequest | SipResponse): void;
  /** A double CRLF between messages: the peer expects a single CRLF back (RFC 5626 section 4.4.1). */
  ping(): void;
  /** The CRLF that answers a double CRLF of this side. */
  pong?(): void;
}

const EMPTY = Buffer.alloc(0);
const PING = Buffer.from('\r\n\r\n');
const PONG = Buffer.from('\r\n');

/**
 * Splits a TCP byte stream into messages by Content-Length (RFC 3261 section 18.3). After an error the next message
 * cannot be found, so the connection must be closed.
 */
export class StreamFramer {
  readonly #events: FramerEvents;
  readonly #limits: ParseLimits;
  /** Unread bytes are `#store[#start, #end)`. The store grows by doubling, so that single bytes cost little. */
  #store: Buffer = EMPTY;
  #start = 0;
  #end = 0;
  /** Index where the search for the empty line continues. */
  #scanned = 0;
  /** The message whose head was read and whose body is incomplete. */
  #message: SipRequest | SipResponse | undefined;
  #bodyStart = 0;
  #bodyLength = 0;
  /** Set when this side has sent a double CRLF: the next CRLF is its answer, not half of one. */
  expectsPong = false;

  constructor(events: FramerEvents, limits: ParseLimits = DEFAULT_LIMITS) {
    this.#events = events;
    this.#limits = limits;
  }

  /** Whether a message is incomplete. A lone CRLF is not a message. */
  get midMessage(): boolean {
    return this.#end - this.#start > PING.length || this.#message !== undefined;
  }

  /**
   * Takes the next bytes, and reports the messages that are now complete.
   * @throws SipParseError when the bytes are not a SIP message or exceed the limits; RejectedMessageError when the
   *   sender can get a 400.
   */
  push(chunk: Buffer): void {
    this.#append(chunk);
    while (this.#start < this.#end) {
      if (this.#message === undefined && !this.#readHead()) return;
      if (this.#message !== undefined && !this.#readBody()) return;
    }
  }

  #append(chunk: Buffer): void {
    const have = this.#end - this.#start;
    if (have === 0) {
      this.#store = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      return;
    }
    if (this.#end + chunk.length > this.#store.length) {
      const grown = Buffer.allocUnsafe(2 * (have + chunk.length));
      this.#store.copy(grown, 0, this.#start, this.#end);
      this.#scanned -= this.#start;
      this.#bodyStart -= this.#start;
      this.#store = grown;
      this.#start = 0;
      this.#end = have;
    }
    chunk.copy(this.#store, this.#end);
    this.#end += chunk.length;
  }

  /** Reads a head or a ping. Returns false when it is incomplete. */
  #readHead(): boolean {
    const view = this.#store.subarray(0, this.#end);
    if (this.#scanned <= this.#start) {
      const have = view.subarray(this.#start, this.#start + PING.length);
      if (have.equals(PING)) {
        this.#start += PING.length;
        this.#events.ping();
        return true;
      }
      if (this.expectsPong && have.equals(PONG)) {
        this.expectsPong = false;
        this.#start += PONG.length;
        this.#events.pong?.();
        return true;
      }
      // The beginning of a ping, or a pong: wait for more bytes.
      if (have.length < PING.length && have.equals(PING.subarray(0, have.length))) return false;
      this.#start = skipLineBreaks(view, this.#start);
      if (this.#start === this.#end) return false;
    }
    const end = findHeadEnd(view, Math.max(this.#start, this.#scanned - 3));
    if (end === undefined) {
      this.#scanned = this.#end;
      if (this.#end - this.#start > this.#limits.maxHeadBytes) {
        const most = `an empty line within ${this.#limits.maxHeadBytes} bytes`;
        throw new SipParseError('message', `${this.#end - this.#start} bytes without one`, most);
      }
      return false;
    }
    const message = parseHead(view, this.#start, end.head, this.#limits);
    const length = contentLength(message);
    if (length === undefined) {
      throw new RejectedMessageError('Content-Length', '', 'a number on a stream (RFC 3261 section 20.14)', message);
    }
    if (end.body - this.#start + length > this.#limits.maxMessageBytes) {
      throw new RejectedMessageError(
        'Content-Length',
        String(length),
        `a message of at most ${this.#limits.maxMessageBytes} bytes`,
        message,
      );
    }
    this.#message = message;
    this.#bodyStart = end.body;
    this.#bodyLength = length;
    return true;
  }

  /** Reads the body and reports the message. Returns false when the body is incomplete. */
  #readBody(): boolean {
    const end = this.#bodyStart + this.#bodyLength;
    const message = this.#message;
    if (message === undefined || this.#end < end) return false;
    message.body = this.#store.subarray(this.#bodyStart, end);
    message.wireSize = end - this.#start;
    this.#start = end;
    this.#scanned = 0;
    this.#message = undefined;
    this.#events.message(message);
    return true;
  }
}
