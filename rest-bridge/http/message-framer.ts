/** Finds the borders of HTTP messages. */
import { Refusal } from './refusal.ts';
import { parseRequestHead, type RequestHead } from './request-head.ts';

/** The receiver of the framer's output, in stream order. A sink must not call back into the framer. */
export interface FramerSink {
  /** Called before a complete head is passed on. */
  head(head: RequestHead): void;
  /** Bytes for Node's parser: heads are whole, bodies come as they arrive. */
  forward(bytes: Buffer): void;
  /** The message is complete. `bodyBytes` counts its content, without chunk framing. */
  end(bodyBytes: number): void;
  /** Called for an upgrade request: the framer holds all data until `resume` or `tunnel`. */
  upgrade(): void;
  /** Called at the refusal of a message, after which nothing is passed on; `inBody`: its head was already passed on. */
  refuse(refusal: Refusal, inBody: boolean): void;
}

type State =
  | 'head'
  | 'body'
  | 'chunk-size'
  | 'chunk-data'
  | 'chunk-end'
  | 'last-chunk-end'
  /** Behind an upgrade request that is not decided yet. */
  | 'held'
  /** After the upgrade: bytes are no longer HTTP. */
  | 'tunnel'
  /** After `Connection: close`: what follows is no request. */
  | 'closing'
  | 'refused';

const NOTHING = Buffer.alloc(0);
const LF = 0x0a;
const CR = 0x0d;
/** Up to 4 GiB a chunk; no chunk extension. */
const CHUNK_SIZE = /^[0-9a-fA-F]{1,8}$/;
const MAX_CHUNK_LINE = 10;

export const MAX_HEAD_BYTES = 16 * 1024;

/**
 * Finds the borders of HTTP/1.x messages in a byte stream and rewrites the request line of custom methods, so that
 * Node's parser can read them. It refuses every message that it cannot parse completely, and never skips bytes.
 */
export class MessageFramer {
  readonly #sink: FramerSink;
  #state: State = 'head';
  /** Bytes of an incomplete head or chunk line, or all data behind an upgrade request. */
  #held: Buffer = NOTHING;
  /** Remaining bytes of the body or chunk. */
  #remaining = 0;
  #bodyBytes = 0;
  #last = false;

  constructor(sink: FramerSink) {
    this.#sink = sink;
  }

  /** True within an incomplete head. */
  get inHead(): boolean {
    return this.#state === 'head' && this.#held.length > 0;
  }

  /** True within an incomplete body, whose head was passed on. */
  get inBody(): boolean {
    return (
      this.#state === 'body' ||
      this.#state === 'chunk-size' ||
      this.#state === 'chunk-data' ||
      this.#state === 'chunk-end' ||
      this.#state === 'last-chunk-end'
    );
  }

  /** True after the upgrade of the connection. */
  get tunnelling(): boolean {
    return this.#state === 'tunnel';
  }

  /** Takes the next bytes of the stream. They are passed on by reference; held bytes are copied. */
  feed(chunk: Buffer): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    // A head that was incomplete has no end before its last byte.
    const scanned = Math.max(0, this.#held.length - 1);
    this.#held = NOTHING;
    try {
      this.#consume(bytes, scanned);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const inBody = this.inBody;
      this.stop();
      this.#sink.refuse(error, inBody);
    }
  }

  /** Continues after a refused upgrade: the held bytes are HTTP. */
  resume(): void {
    if (this.#state !== 'held') return;
    this.#state = 'head';
    this.#endMessage(0);
    const held = this.#takeHeld();
    if (held.length > 0) this.feed(held);
  }

  /** Continues after an upgrade: held and later bytes pass untouched. */
  tunnel(): void {
    if (this.#state !== 'held') return;
    this.#state = 'tunnel';
    const held = this.#takeHeld();
    if (held.length > 0) this.#sink.forward(held);
  }

  /** Passes nothing more on. */
  stop(): void {
    this.#state = 'refused';
    this.#held = NOTHING;
  }

  #takeHeld(): Buffer {
    const held = this.#held;
    this.#held = NOTHING;
    return held;
  }

  #consume(bytes: Buffer, scanned: number): void {
    let at = 0;
    let from = scanned;
    while (at < bytes.length) {
      switch (this.#state) {
        case 'head':
          at = this.#readHead(bytes, at, Math.max(at, from));
          from = 0;
          break;
        case 'body':
        case 'chunk-data':
          at = this.#readData(bytes, at);
          break;
        case 'chunk-size':
          at = this.#readChunkSize(bytes, at);
          break;
        case 'chunk-end':
          at = this.#readLineEnd(bytes, at, 'chunk-size');
          break;
        case 'last-chunk-end':
          at = this.#readLineEnd(bytes, at, 'head');
          break;
        case 'held':
          this.#hold(bytes, at);
          return;
        case 'tunnel':
          this.#sink.forward(bytes.subarray(at));
          return;
        case 'closing':
        case 'refused':
          return;
      }
    }
  }

  #hold(bytes: Buffer, at: number): number {
    this.#held = Buffer.from(bytes.subarray(at));
    return bytes.length;
  }

  /** @param from start of the search for the end of the head: bytes before were searched already */
  #readHead(bytes: Buffer, start: number, from: number): number {
    const end = endOfHead(bytes, start, from);
    if ((end === -1 ? bytes.length : end) - start > MAX_HEAD_BYTES) {
      throw new Refusal('head-too-large', `the request line and headers are longer than ${MAX_HEAD_BYTES} bytes`);
    }
    if (end === -1) return this.#hold(bytes, start);
    const head = parseRequestHead(bytes.toString('latin1', start, end - 2));
    this.#sink.head(head);
    if (head.rewritten === undefined) {
      this.#sink.forward(bytes.subarray(start, end));
    } else {
      this.#sink.forward(Buffer.from(`${head.rewritten}\r\n`, 'latin1'));
    }
    this.#last = head.last;
    this.#bodyBytes = 0;
    if (head.upgrade) {
      this.#state = 'held';
      this.#sink.upgrade();
    } else if (head.body.kind === 'chunked') {
      this.#state = 'chunk-size';
    } else if (head.body.kind === 'length') {
      this.#remaining = head.body.bytes;
      this.#bodyBytes = head.body.bytes;
      this.#state = 'body';
    } else {
      this.#endMessage(0);
    }
    return end;
  }

  #readData(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#remaining);
    this.#remaining -= end - at;
    this.#sink.forward(bytes.subarray(at, end));
    if (this.#remaining === 0) {
      if (this.#state === 'chunk-data') this.#state = 'chunk-end';
      else this.#endMessage(this.#bodyBytes);
    }
    return end;
  }

  #readChunkSize(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LF, at);
    if ((end === -1 ? bytes.length : end + 1) - at > MAX_CHUNK_LINE) throw badChunk();
    if (end === -1) return this.#hold(bytes, at);
    const digits = bytes.toString('latin1', at, end - 1);
    if (bytes[end - 1] !== CR || !CHUNK_SIZE.test(digits)) throw badChunk();
    this.#sink.forward(bytes.subarray(at, end + 1));
    this.#remaining = Number.parseInt(digits, 16);
    this.#bodyBytes += this.#remaining;
    this.#state = this.#remaining === 0 ? 'last-chunk-end' : 'chunk-data';
    return end + 1;
  }

  #readLineEnd(bytes: Buffer, at: number, next: 'chunk-size' | 'head'): number {
    if (bytes[at] !== CR || (at + 1 < bytes.length && bytes[at + 1] !== LF)) throw badChunk();
    if (at + 1 === bytes.length) return this.#hold(bytes, at);
    this.#sink.forward(bytes.subarray(at, at + 2));
    if (next === 'head') this.#endMessage(this.#bodyBytes);
    else this.#state = next;
    return at + 2;
  }

  #endMessage(bodyBytes: number): void {
    this.#state = this.#last ? 'closing' : 'head';
    this.#sink.end(bodyBytes);
  }
}

function badChunk(): Refusal {
  return new Refusal('malformed', 'the chunked body is broken, or uses a chunk extension or trailer');
}

/**
 * @returns the offset behind the empty line that ends the head, or -1 when it has not come yet
 * @throws {Refusal} on a line feed without its carriage return
 */
function endOfHead(bytes: Buffer, start: number, from: number): number {
  for (let lf = bytes.indexOf(LF, from); lf !== -1; lf = bytes.indexOf(LF, lf + 1)) {
    if (lf === start || bytes[lf - 1] !== CR) throw new Refusal('malformed', 'a line ends without a carriage return');
    if (lf - start >= 3 && bytes[lf - 2] === LF) return lf + 1;
    if (lf - start === 1) throw new Refusal('malformed', 'an empty line where a request should begin');
  }
  return -1;
}
