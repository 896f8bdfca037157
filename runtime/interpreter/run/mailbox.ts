import type { Value } from '../values.ts';

/** A message from one run to another. */
export interface Message {
  readonly name: string;
  readonly data: Value;
  /** Id of the run that sent it. */
  readonly from: string;
}

/** Messages that nobody has received; more push out the oldest. */
const MAX_WAITING = 100;

interface Receiver {
  readonly name: string;
  readonly resolve: (message: Message) => void;
}

/** Keeps a run's messages until one of its blocks receives them. */
export class Mailbox {
  readonly #waiting: Message[] = [];
  readonly #receivers: Receiver[] = [];

  /** @returns false when the oldest message had to go */
  deliver(message: Message): boolean {
    const index = this.#receivers.findIndex(({ name }) => name === message.name);
    const [receiver] = index < 0 ? [] : this.#receivers.splice(index, 1);
    if (receiver) {
      receiver.resolve(message);
      return true;
    }
    this.#waiting.push(message);
    if (this.#waiting.length <= MAX_WAITING) return true;
    this.#waiting.shift();
    return false;
  }

  /** The oldest message of this name, or the next one; rejects with the signal's reason. */
  async receive(name: string, signal: AbortSignal): Promise<Message> {
    const index = this.#waiting.findIndex((message) => message.name === name);
    const [message] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (message) return message;
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    const receiver: Receiver = { name, resolve };
    const abort = (): void => {
      this.#receivers.splice(this.#receivers.indexOf(receiver), 1);
      reject(signal.reason);
    };
    this.#receivers.push(receiver);
    signal.addEventListener('abort', abort, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', abort));
  }
}
