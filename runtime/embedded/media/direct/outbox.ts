/** Messages to another thread. */
import type { MessagePort } from 'node:worker_threads';
import { Turn } from '../../../turns/index.ts';

/** Sends the messages of a turn of the event loop together. */
export class Outbox<Message> {
  readonly #port: MessagePort;
  readonly #turn = new Turn(() => this.#send());
  #unsent: Message[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
  }

  add(message: Message): void {
    this.#turn.add(() => this.#unsent.push(message));
  }

  /** Sends what waits now. */
  flush(): void {
    this.#turn.end();
  }

  /**
   * Each message stays one of its own: the other side then does all that follows from one, as far as it waits for nothing
   * else, before it takes the next.
   */
  #send(): void {
    const messages = this.#unsent;
    this.#unsent = [];
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
    for (const message of messages) this.#port.postMessage(message);
  }
}
