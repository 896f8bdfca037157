/** Keeps the first items of an order without sorting the rest. */
import { type OrderEntry, sorter, type Sorter } from './order.ts';
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
  readonly #sorter: Sorter;
  #best: Keyed<T>[] = [];
  /** The last of the first `size` items so far: items after it are dropped. */
  #worst: Keyed<T> | undefined;

  constructor(order: readonly OrderEntry[], size: number) {
    this.#size = size;
    this.#sorter = sorter(order);
  }

  add(item: T): void {
    if (this.#worst !== undefined && !this.#sorter.isBefore(item, this.#worst.keys)) return;
    this.#best.push({ item, keys: this.#sorter.keysOf(item) });
    if (this.#best.length >= Math.max(Math.min(RUN, this.#size * 8), this.#size * 2)) this.#cut();
  }

  /** The kept items, in order. */
  items(): readonly T[] {
    this.#cut();
    return this.#best.map(({ item }) => item);
  }

  #cut(): void {
    const { compare } = this.#sorter;
    this.#best = this.#best.toSorted((a, b) => compare(a.keys, b.keys)).slice(0, this.#size);
    this.#worst = this.#best.length < this.#size ? undefined : this.#best.at(-1);
  }
}
