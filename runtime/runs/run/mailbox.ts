/** Messages between runs. */
import type { Value } from '../../language/index.ts';

/** A message from one run to another. */
export interface Message {
  readonly name: string;
  readonly data: Value;
  /** Id of the run that sent it. */
  readonly from: string;
  /** Sensitive texts in the data, of a sender at another node. */
  readonly secrets?: readonly string[];
}

/** Limits of unreceived messages and of their JSON characters; beyond them the oldest are dropped. */
const MAX_WAITING = 100;
const MAX_LENGTH = 1_048_576;

interface Waiting {
  readonly message: Message;
  /** Characters of JSON in its data. */
  readonly length: number;
}

interface Receiver {
  readonly name: string;
  readonly resolve: (message: Message) => void;
}

/** Keeps a run's messages until a block receives them. */
export class Mailbox {
  readonly #waiting: Waiting[] = [];
  #length = 0;
  readonly #receivers: Receiver[] = [];

  /** The messages that nobody has received yet, oldest first. */
  get unreceived(): readonly Message[] {
    return this.#waiting.map(({ message }) => message);
  }

  /** @returns false when the oldest message was dropped */
  deliver(message: Message): boolean {
    const index = this.#receivers.findIndex(({ name }) => name === message.name);
    const [receiver] = index < 0 ? [] : this.#receivers.splice(index, 1);
    if (receiver) {
      receiver.resolve(message);
      return true;
    }
    const { length } = JSON.stringify(message.data);
    this.#waiting.push({ message, length });
    this.#length += length;
    const count = this.#waiting.length;
    while (this.#waiting.length > MAX_WAITING || this.#length > MAX_LENGTH) this.#take(0);
    return this.#waiting.length === count;
  }

  /** The oldest message of this name, or the next one; rejects with the signal's reason. */
  async receive(name: string, signal: AbortSignal): Promise<Message> {
    const message = this.#take(this.#waiting.findIndex((waiting) => waiting.message.name === name));
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

  /** @param index negative: no message */
  #take(index: number): Message | undefined {
    const [taken] = index < 0 ? [] : this.#waiting.splice(index, 1);
    this.#length -= taken?.length ?? 0;
    return taken?.message;
  }
}
