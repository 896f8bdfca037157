/** Keeps the first items of an order without sorting the rest. */
import type { OrderEntry } from './order.ts';
import { sorter } from './order.ts';
import type { Item } from './to-predicate.ts';

interface Keyed<T> {
  readonly item: T;
  readonly keys: readonly unknown[];
}

/** Number of items sorted at once: takes a fraction of a millisecond. */
const RUN = 512;

/** The first `size` of the added items in the order of a query; equal items stay in order of addition. */
export class First<T extends Item> {
  readonly #size: number;
  readonly #keysOf: (item: T) => readonly unknown[];
  readonly #compare: (a: Keyed<T>, b: Keyed<T>) => number;
  #best: Keyed<T>[] = [];
  /** The last of the first `size` items so far: items after it are dropped. */
  #worst: Keyed<T> | undefined;

  constructor(order: readonly OrderEntry[], size: number) {
    const { keysOf, compare } = sorter(order);
    this.#size = size;
    this.#keysOf = keysOf;
    this.#compare = (a, b) => compare(a.keys, b.keys);
  }

  add(item: T): void {
    const keyed = { item, keys: this.#keysOf(item) };
    if (this.#worst !== undefined && this.#compare(keyed, this.#worst) >= 0) return;
    this.#best.push(keyed);
    if (this.#best.length >= Math.max(Math.min(RUN, this.#size * 8), this.#size * 2)) this.#cut();
  }

  /** The kept items, in order. */
  items(): readonly T[] {
    this.#cut();
    return this.#best.map(({ item }) => item);
  }

  #cut(): void {
    this.#best = this.#best.toSorted(this.#compare).slice(0, this.#size);
    this.#worst = this.#best.length < this.#size ? undefined : this.#best.at(-1);
  }
}
