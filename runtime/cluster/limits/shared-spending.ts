/** What is spent of rates at all nodes. */
import type { SpentElsewhere } from '../../rate/index.ts';
import { Broadcast } from '../link/broadcast.ts';
import type { NatsLink } from '../link/nats-link.ts';

/** Milliseconds in which spending is told together. */
const GATHER_MS = 100;
/** Keys of one message; NATS takes 1 MB. */
const KEYS = 5000;

/** Spent tokens by key. */
type Spent = readonly (readonly [key: string, tokens: number])[];

export class SharedSpending implements SpentElsewhere {
  readonly #others: Broadcast;
  readonly #listeners: ((key: string, tokens: number) => void)[] = [];
  #spent = new Map<string, number>();
  #isGathering = false;

  /**
   * @param id of this process
   * @param topic one word
   */
  constructor(link: NatsLink, id: string, topic: string) {
    this.#others = new Broadcast(link, id, topic, (message) => {
      for (const [key, tokens] of message as Spent) for (const spend of this.#listeners) spend(key, tokens);
    });
  }

  hear(spend: (key: string, tokens: number) => void): void {
    this.#listeners.push(spend);
  }

  tell(key: string): void {
    this.#spent.set(key, (this.#spent.get(key) ?? 0) + 1);
    if (this.#isGathering) return;
    this.#isGathering = true;
    setTimeout(() => this.#tell(), GATHER_MS).unref();
  }

  #tell(): void {
    this.#isGathering = false;
    const spent = [...this.#spent];
    this.#spent = new Map();
    for (let at = 0; at < spent.length; at += KEYS) this.#others.tell(spent.slice(at, at + KEYS));
  }
}
