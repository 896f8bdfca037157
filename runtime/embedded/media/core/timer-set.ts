/** Timers of the media server. */

/** Longest delay of a Node.js timer, ms; a longer one would fire at once. */
const LONGEST = 2 ** 31 - 1;

/** Counted timers, which all end with the server. */
export class TimerSet {
  readonly #timers = new Set<NodeJS.Timeout>();

  get size(): number {
    return this.#timers.size;
  }

  /** Calls `run` once after `milliseconds`. Returns the function that cancels it. */
  after(milliseconds: number, run: () => void): () => void {
    let left = milliseconds;
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      const step = Math.min(left, LONGEST);
      left -= step;
      timer = setTimeout(() => {
        this.#timers.delete(timer);
        if (left > 0) wait();
        else run();
      }, step);
      this.#timers.add(timer);
    };
    wait();
    return () => {
      this.#timers.delete(timer);
      clearTimeout(timer);
    };
  }

  /** Calls `run` every `milliseconds`. Returns the function that ends it. */
  every(milliseconds: number, run: () => void): () => void {
    const timer = setInterval(run, milliseconds);
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
      clearInterval(timer);
    };
  }

  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
