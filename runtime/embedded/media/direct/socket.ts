/** A connection between two threads in place of TCP. */
import { EventEmitter } from 'node:events';

interface Events {
  data: [Buffer];
  end: [];
  close: [];
  timeout: [];
  error: [Error];
}

/** What one end sends to the other: text, and at last its end. */
export type SocketMessage = { readonly text: string } | { readonly end: true };

/** One end of a connection, with the part of `net.Socket` that the event socket and its clients use. */
export class DirectSocket extends EventEmitter<Events> {
  destroyed = false;
  /** Nothing is held back: the other thread takes all. */
  readonly writableLength = 0;
  readonly #send: (message: SocketMessage) => void;
  #unsent = '';
  #timer: NodeJS.Timeout | undefined;

  /** @param send to the other end */
  constructor(send: (message: SocketMessage) => void) {
    super();
    this.#send = send;
  }

  /** Text of one turn is one message. */
  write(text: string): boolean {
    if (this.destroyed) return false;
    if (this.#unsent === '') process.nextTick(() => this.#flush());
    this.#unsent += text;
    return true;
  }

  cork(): void {}

  uncork(): void {}

  setNoDelay(): this {
    return this;
  }

  /** @param milliseconds 0: none */
  setTimeout(milliseconds: number, expired?: () => void): this {
    clearTimeout(this.#timer);
    if (expired !== undefined) this.once('timeout', expired);
    if (milliseconds > 0 && !this.destroyed) this.#timer = setTimeout(() => this.emit('timeout'), milliseconds).unref();
    return this;
  }

  /** Closes both directions. */
  end(): void {
    if (this.destroyed) return;
    this.#flush();
    this.#send({ end: true });
    this.#close();
  }

  destroy(): void {
    this.end();
  }

  /** Takes what the other end has sent. */
  take(message: SocketMessage): void {
    if (this.destroyed) return;
    if ('text' in message) {
      this.emit('data', Buffer.from(message.text));
      return;
    }
    this.#close();
    this.emit('end');
  }

  #flush(): void {
    const text = this.#unsent;
    this.#unsent = '';
    if (text !== '' && !this.destroyed) this.#send({ text });
  }

  #close(): void {
    this.destroyed = true;
    clearTimeout(this.#timer);
    process.nextTick(() => this.emit('close'));
  }
}
