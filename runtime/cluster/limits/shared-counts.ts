/** Numbers that each node counts for itself, and that limits add up: calls of providers, and of domains. */
import { Broadcast } from '../link/broadcast.ts';
import type { NatsLink } from '../link/nats-link.ts';

/** Milliseconds in which changes are told together. */
const GATHER_MS = 20;
/** Milliseconds between two messages of a node that counts something, and for which its last one holds: it may be dead. */
const REPEAT_MS = 1000;
const VALID_MS = 3000;

interface Told {
  /** Of the process. */
  readonly node: string;
  readonly counts: readonly (readonly [key: string, count: number])[];
  /** True: all others are 0. */
  readonly isAll: boolean;
}

interface Heard {
  readonly at: number;
  readonly counts: Map<string, number>;
}

export class SharedCounts {
  readonly #others: Broadcast;
  readonly #id: string;
  readonly #own: () => ReadonlyMap<string, number>;
  readonly #heard = new Map<string, Heard>();
  readonly #repeat: NodeJS.Timeout;
  readonly #changed = new Set<string>();
  #gathering: NodeJS.Timeout | undefined;

  /**
   * @param id of this process
   * @param topic one word
   * @param own the numbers of this node
   */
  constructor(link: NatsLink, id: string, topic: string, own: () => ReadonlyMap<string, number>) {
    this.#id = id;
    this.#own = own;
    this.#others = new Broadcast(link, id, topic, (message) => {
      const { node, counts, isAll } = message as Told;
      const known = isAll ? undefined : this.#heard.get(node);
      this.#heard.set(node, { at: performance.now(), counts: new Map([...(known?.counts ?? []), ...counts]) });
    });
    this.#repeat = setInterval(() => {
      const all = own();
      if (all.size > 0) this.#others.tell({ node: id, counts: [...all], isAll: true } satisfies Told);
      for (const [node, { at }] of this.#heard) if (performance.now() - at > VALID_MS) this.#heard.delete(node);
    }, REPEAT_MS).unref();
  }

  /** Tells the others soon that these numbers may have changed. */
  changed(keys: readonly string[]): void {
    if (keys.length === 0) return;
    for (const key of keys) this.#changed.add(key);
    this.#gathering ??= setTimeout(() => this.#tell(), GATHER_MS).unref();
  }

  /** The sum at the other nodes, as far as NATS tells it. */
  elsewhere(key: string): number {
    const now = performance.now();
    let sum = 0;
    for (const { at, counts } of this.#heard.values()) if (now - at <= VALID_MS) sum += counts.get(key) ?? 0;
    return sum;
  }

  close(): void {
    clearInterval(this.#repeat);
    clearTimeout(this.#gathering);
  }

  #tell(): void {
    this.#gathering = undefined;
    const all = this.#own();
    const counts = Array.from(this.#changed, (key): [string, number] => [key, all.get(key) ?? 0]);
    this.#changed.clear();
    this.#others.tell({ node: this.#id, counts, isAll: false } satisfies Told);
  }
}
