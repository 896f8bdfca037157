/**
 * Lets so many in at once, the others in the order in which they came: runs that start or wake together use one isolate after
 * the other, where each would make one of its own.
 */
export class Turnstile {
  readonly #places: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** @returns to be called once, when the place is free again */
  async enter(): Promise<() => void> {
    if (this.#inside < this.#places) this.#inside += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#inside -= 1;
    };
  }
}
