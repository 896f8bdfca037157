/** Messages to all other nodes, which nobody answers and nobody keeps. */
import type { NatsConnection } from '@nats-io/transport-node';
import type { NatsLink } from './nats-link.ts';

const SUBJECT = 'ringmaster.v1.all';

interface Told {
  readonly from: string;
  readonly message: unknown;
}

export class Broadcast {
  readonly #link: NatsLink;
  readonly #id: string;
  readonly #topic: string;

  /**
   * @param id of this process
   * @param topic one word
   * @param hear receives what the other nodes tell
   */
  constructor(link: NatsLink, id: string, topic: string, hear: (message: unknown) => void) {
    this.#link = link;
    this.#id = id;
    this.#topic = topic;
    let heard: NatsConnection | undefined;
    link.onUp(() => {
      const { connection } = link;
      // A connection that came back keeps its subscriptions.
      if (connection === undefined || connection === heard) return;
      heard = connection;
      connection.subscribe(`${SUBJECT}.${topic}`, {
        callback: (err, data) => {
          const told = err === null ? read(data.string()) : undefined;
          if (told?.from !== undefined && told.from !== id) hear(told.message);
        },
      });
    });
  }

  /** Lost while NATS is away. */
  tell(message: unknown): void {
    const told: Told = { from: this.#id, message };
    this.#link.connection?.publish(`${SUBJECT}.${this.#topic}`, JSON.stringify(told));
  }
}

/** Undefined for what is no message of a node. */
function read(text: string): Partial<Told> | undefined {
  try {
    return JSON.parse(text) as Partial<Told>;
  } catch {
    return undefined;
  }
}
