/** Passes whole requests of a connection to Node, and refuses others. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { corkedTurn, type Turn } from '../../runtime/turns/index.ts';
import { type BodyLimits, BodyPace } from './body-pace.ts';
import { MessageFramer } from './message-framer.ts';
import { Refusal } from './refusal.ts';

export interface FramedSocketOptions {
  /** Milliseconds from the first byte of a head to its last. Default 10 000. */
  readonly headTimeoutMs?: number;
  /** Minimum pace of bodies. */
  readonly bodyLimits?: Partial<BodyLimits>;
  /** Milliseconds for which a closed connection still reads from the client. Default 1 000. */
  readonly lingerMs?: number;
  /** The answer to a refused message: a whole HTTP response with `Connection: close`. */
  readonly renderRefusal: (refusal: Refusal) => string;
  /** Called once for each refused connection. */
  readonly onRefused?: (refusal: Refusal, socket: FramedSocket) => void;
}

type WriteCallback = (error: Error | null | undefined) => void;

const HEAD_TIMEOUT_MS = 10_000;
const LINGER_MS = 1_000;

/**
 * A connection for `http.Server` that passes on only whole, unambiguously framed heads. Node documents that any Duplex can
 * be passed to the `connection` event.
 *
 * Node answers the messages in order. This class writes a refusal itself, after all answers before it.
 */
export class FramedSocket extends Duplex {
  readonly #raw: Socket;
  readonly #options: FramedSocketOptions;
  readonly #framer: MessageFramer;
  readonly #outbox: Buffer[] = [];
  #flushing = false;
  #headTimer: NodeJS.Timeout | undefined;
  /** Start of the incomplete head, `performance.now()`. */
  #headBegan: number | undefined;
  readonly #pace: BodyPace;
  #lingerTimer: NodeJS.Timeout | undefined;
  /** Numbers of passed heads, of Node's requests from them, and of finished answers. */
  #heads = 0;
  #requests = 0;
  #answered = 0;
  #lastResponse: ServerResponse | undefined;
  #upgrading = false;
  /** The head of an upgrade request that waits for the answers before it. */
  #upgradeHead: Buffer[] | undefined;
  #refusal: { readonly refusal: Refusal; readonly inBody: boolean; readonly due: number } | undefined;
  /** The refusal is sent, or cannot be: later writes of Node are dropped. */
  #finished = false;
  /** A WebSocket server writes. Until then, what is written goes straight to the connection. */
  #isTunnel = false;
  /** Answers wait in it: the client, once awake, takes those on its other connections too. */
  readonly #turn: Turn;

  constructor(raw: Socket, options: FramedSocketOptions) {
    super({ allowHalfOpen: true, decodeStrings: true });
    this.#raw = raw;
    this.#turn = corkedTurn(raw, Number.POSITIVE_INFINITY);
    this.#options = options;
    this.#pace = new BodyPace(options.bodyLimits, {
      // No data arrives while this side does not read.
      isHeldUp: () => raw.isPaused(),
      tooSlow: (reason) => this.#stopReading(new Refusal('timeout', reason), this.#requests),
    });
    this.#framer = new MessageFramer({
      head: (head) => {
        this.#heads++;
        if (head.body.kind !== 'none') this.#pace.begin(this.#headBegan);
        this.#stopHeadTimer();
        if (head.upgrade) this.#upgradeHead = [];
      },
      forward: (bytes) => (this.#upgradeHead ? this.#upgradeHead.push(bytes) : this.#addToOutbox(bytes)),
      end: () => this.#pace.end(),
      upgrade: () => {
        this.#upgrading = true;
        this.#releaseUpgrade();
      },
      refuse: (refusal, inBody) => this.#refuse(refusal, inBody, this.#heads),
    });
    raw.on('data', (chunk: Buffer) => this.#onData(chunk));
    raw.on('end', () => this.#onEnd());
    raw.on('timeout', () => this.emit('timeout'));
    raw.on('drain', () => this.emit('drain'));
    raw.on('error', (error) => (this.#finished ? this.destroy() : this.destroy(error)));
    raw.on('close', () => this.destroy());
  }

  /** Node has parsed a passed head to a request. */
  requestArrived(response: ServerResponse): void {
    this.#requests++;
    this.#lastResponse = response;
    response.once('close', () => {
      this.#answered++;
      this.#answerRefusal();
      if (this.#upgradeHead) {
        this.#releaseUpgrade();
        this.#flush();
      }
    });
    // Node decided against an upgrade: the head was a request like any other.
    if (this.#upgrading && this.#requests === this.#heads) {
      this.#upgrading = false;
      this.#framer.resume();
      this.#flush();
      this.#raw.resume();
    }
  }

  /** The sender of a request is authenticated: only the minimum pace limits its body from now on. */
  senderKnown(request: IncomingMessage): void {
    if (this.#lastResponse?.req === request && this.#requests === this.#heads) this.#pace.senderKnown();
  }

  /** True when no request is in progress: closing the connection loses nothing. */
  get idle(): boolean {
    return this.#answered === this.#heads && !this.#framer.inBody && !this.#framer.tunnelling;
  }

  /** True when Node may treat the request it just read as an upgrade. */
  get mayUpgrade(): boolean {
    return this.#upgrading && this.#requests === this.#heads - 1;
  }

  /** A WebSocket server has taken the connection. */
  upgraded(): void {
    this.#upgrading = false;
    this.#isTunnel = true;
    this.#turn.end();
    while (this.#raw.writableCorked > 0) this.#raw.uncork();
    this.#framer.tunnel();
    this.#flush();
    this.#raw.resume();
  }

  /**
   * Refuses the request in progress after Node gave up on it: its body was late, or the connection ended within it. A second
   * call closes the connection at once.
   */
  refuse(refusal: Refusal): void {
    if (this.#refusal) this.destroy();
    else this.#stopReading(refusal, this.#requests);
  }

  /** Passes the upgrade request once all answers before it are sent, because a WebSocket server writes at once. */
  #releaseUpgrade(): void {
    if (this.#answered < this.#heads - 1) return;
    const head = this.#upgradeHead ?? [];
    this.#upgradeHead = undefined;
    for (const bytes of head) this.#addToOutbox(bytes);
  }

  #addToOutbox(bytes: Buffer): void {
    const last = this.#outbox.at(-1);
    if (last && last.buffer === bytes.buffer && last.byteOffset + last.length === bytes.byteOffset) {
      const joined = Buffer.from(bytes.buffer, last.byteOffset, last.length + bytes.length);
      this.#outbox[this.#outbox.length - 1] = joined;
    } else {
      this.#outbox.push(bytes);
    }
  }

  #flush(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    for (let bytes = this.#outbox.shift(); bytes; bytes = this.#outbox.shift()) {
      if (!this.push(bytes)) this.#raw.pause();
    }
    this.#flushing = false;
  }

  #onData(chunk: Buffer): void {
    if (this.#refusal || this.#lingerTimer) return;
    this.#pace.came(chunk.length);
    this.#framer.feed(chunk);
    this.#pace.wait();
    this.#flush();
    this.#watchHead();
    // An undecided upgrade waits for Node, with all data behind it.
    if (this.#upgrading) this.#raw.pause();
  }

  #onEnd(): void {
    this.#stopHeadTimer();
    if (this.#lingerTimer) this.destroy();
    else if (this.#framer.inHead) {
      this.#stopReading(new Refusal('malformed', 'the connection ended within a request'), this.#heads);
    } else if (!this.#refusal) this.push(null);
  }

  #watchHead(): void {
    if (!this.#framer.inHead) return;
    this.#headBegan ??= performance.now();
    this.#headTimer ??= setTimeout(
      () => this.#stopReading(new Refusal('timeout', 'the request line and headers came too slowly'), this.#heads),
      this.#options.headTimeoutMs ?? HEAD_TIMEOUT_MS,
    );
  }

  #stopHeadTimer(): void {
    clearTimeout(this.#headTimer);
    this.#headTimer = undefined;
    this.#headBegan = undefined;
  }

  #stopReading(refusal: Refusal, good: number): void {
    const { inBody } = this.#framer;
    this.#framer.stop();
    this.#refuse(refusal, inBody, good);
  }

  /** @param good number of passed messages that Node will answer, unless the last has a broken body */
  #refuse(refusal: Refusal, inBody: boolean, good: number): void {
    if (this.#refusal || this.destroyed) return;
    this.#stopHeadTimer();
    this.#pace.end();
    this.#refusal = { refusal, inBody, due: inBody ? this.#heads - 1 : good };
    this.#options.onRefused?.(refusal, this);
    this.#answerRefusal();
  }

  #answerRefusal(): void {
    if (!this.#refusal || this.#finished) return;
    const { refusal, inBody, due } = this.#refusal;
    if (this.#answered < due) return;
    // The handler of a request with a broken body still waits for its rest, unless it has answered already.
    const unanswered = !inBody || this.#answered < this.#heads;
    const answering = inBody && unanswered && this.#requests === this.#heads && this.#lastResponse?.headersSent;
    if (answering) return;
    this.#finished = true;
    if (unanswered) this.#raw.end(this.#options.renderRefusal(refusal));
    else this.#raw.end();
    this.#linger();
  }

  /**
   * Reads and drops incoming data for a moment: closing at once would send a reset, which destroys the answer on its way to
   * the client (RFC 9112 section 9.6).
   */
  #linger(): void {
    if (this.#lingerTimer || this.destroyed) return;
    if (this.#raw.readableEnded) {
      this.destroy();
      return;
    }
    this.#lingerTimer = setTimeout(() => this.destroy(), this.#options.lingerMs ?? LINGER_MS);
    this.#raw.resume();
  }

  override _read(): void {
    if (!this.#upgrading) this.#raw.resume();
  }

  /**
   * Node's answers go straight to the connection: this stream's own buffer would be a second one before that of the socket,
   * for bytes. WebSocket servers read the state of the stream that they write to, so they write to this one.
   */
  override write(chunk: unknown, encoding?: BufferEncoding | WriteCallback, callback?: WriteCallback): boolean {
    const [charset, done] = typeof encoding === 'function' ? [undefined, encoding] : [encoding, callback];
    if (this.#isTunnel || this.#finished || !this.writable) return super.write(chunk, charset ?? 'utf8', done);
    return this.#turn.add(() => this.#raw.write(chunk as Buffer | string, charset, done));
  }

  override cork(): void {
    if (this.#isTunnel) super.cork();
    else this.#raw.cork();
  }

  override uncork(): void {
    if (this.#isTunnel) super.uncork();
    // Node uncorks more often than it corks.
    else if (!this.#turn.holds || this.#raw.writableCorked > 1) this.#raw.uncork();
  }

  static {
    // Node's types declare these accessors as fields, which a class cannot override.
    for (const name of ['writableCorked', 'writableLength'] as const) {
      Object.defineProperty(this.prototype, name, {
        get(this: FramedSocket): unknown {
          return this.#isTunnel ? Reflect.get(Duplex.prototype, name, this) : this.#raw[name];
        },
      });
    }
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    if (this.#finished) callback();
    else this.#raw.write(chunk, callback);
  }

  override _writev(
    chunks: readonly { chunk: Buffer; encoding: BufferEncoding }[],
    callback: (error?: Error | null) => void,
  ): void {
    if (this.#finished) {
      callback();
      return;
    }
    this.#raw.cork();
    chunks.forEach(({ chunk }, index) => {
      this.#raw.write(chunk, index === chunks.length - 1 ? callback : undefined);
    });
    this.#raw.uncork();
  }

  override _final(callback: (error?: Error | null) => void): void {
    if (this.#finished || this.#raw.writableEnded || this.#raw.destroyed) callback();
    else this.#raw.end(() => callback());
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#finished = true;
    this.#stopHeadTimer();
    this.#pace.end();
    clearTimeout(this.#lingerTimer);
    this.#raw.destroy();
    callback(error);
  }

  /** A method of `net.Socket`, which Node calls after the last answer of a connection. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.#linger();
    else this.once('finish', () => this.#linger());
  }

  // Further members of net.Socket that Node's server, WebSocket servers and request handlers use.

  setTimeout(milliseconds: number, callback?: () => void): this {
    if (callback) this.once('timeout', callback);
    this.#raw.setTimeout(milliseconds);
    return this;
  }
  setNoDelay(noDelay?: boolean): this {
    this.#raw.setNoDelay(noDelay);
    return this;
  }
  setKeepAlive(enable?: boolean, initialDelay?: number): this {
    this.#raw.setKeepAlive(enable, initialDelay);
    return this;
  }
  ref(): this {
    this.#raw.ref();
    return this;
  }
  unref(): this {
    this.#raw.unref();
    return this;
  }
  get remoteAddress(): string | undefined {
    return this.#raw.remoteAddress;
  }
  get remotePort(): number | undefined {
    return this.#raw.remotePort;
  }
  get remoteFamily(): string | undefined {
    return this.#raw.remoteFamily;
  }
  get localAddress(): string | undefined {
    return this.#raw.localAddress;
  }
  get localPort(): number | undefined {
    return this.#raw.localPort;
  }
  get bytesRead(): number {
    return this.#raw.bytesRead;
  }
  get bytesWritten(): number {
    return this.#raw.bytesWritten;
  }
  get encrypted(): boolean {
    return 'encrypted' in this.#raw && this.#raw.encrypted === true;
  }
}
