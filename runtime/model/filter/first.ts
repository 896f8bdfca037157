import type { OrderEntry } from './order.ts';
import { sorter } from './order.ts';
import type { Item } from './to-predicate.ts';

interface Keyed<T> {
  readonly item: T;
  readonly keys: readonly unknown[];
}

/** Sorted at once; below this it takes a fraction of a millisecond. */
const RUN = 512;

/** The first `size` of the items that are added, in the order of a query; of equals those that were added first. */
export class First<T extends Item> {
  readonly #size: number;
  readonly #keysOf: (item: T) => readonly unknown[];
  readonly #compare: (a: Keyed<T>, b: Keyed<T>) => number;
  #best: Keyed<T>[] = [];
  /** The last of the first `size` so far: whatever comes behind it is not wanted. */
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

  /** In their order. */
  items(): readonly T[] {
    this.#cut();
    return this.#best.map(({ item }) => item);
  }

  #cut(): void {
    this.#best = this.#best.toSorted(this.#compare).slice(0, this.#size);
    this.#worst = this.#best.length < this.#size ? undefined : this.#best.at(-1);
  }
}
