/** Messages to another thread. */
import type { MessagePort } from 'node:worker_threads';

/** Messages that wait at most: the other thread works on these while this one goes on with a long turn. */
const MOST_WAITING = 8;

/** Sends the messages of a turn of the event loop together, up to eight: to wake the other thread costs more than most of them. */
export class Outbox<Message> {
  readonly #port: MessagePort;
  #unsent: Message[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
  }

  add(message: Message): void {
    const waiting = this.#unsent.push(message);
    if (waiting === 1) setImmediate(() => this.flush());
    else if (waiting === MOST_WAITING) this.flush();
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
