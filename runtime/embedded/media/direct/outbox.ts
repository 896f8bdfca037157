/** Messages to another thread. */
import type { MessagePort } from 'node:worker_threads';

/** Sends all messages of a turn of the event loop at its end: to wake the other thread costs more than most of them. */
export class Outbox<Message> {
  readonly #port: MessagePort;
  #unsent: Message[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
  }

  add(message: Message): void {
    if (this.#unsent.push(message) === 1) setImmediate(() => this.flush());
  }

  /**
   * Sends what waits. Each message stays one of its own: the other side then does all that follows from one, as far as it waits for nothing
   * else, before it takes the next.
   */
  flush(): void {
    const messages = this.#unsent;
    this.#unsent = [];
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
    for (const message of messages) this.#port.postMessage(message);
  }
}
