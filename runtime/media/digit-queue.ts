/** Digits beyond this are dropped: nobody types ahead that far. */
const TYPE_AHEAD_LIMIT = 128;

/**
 * DTMF digits of one party: handed to whoever listens, kept for the next listener when nobody does (type-ahead).
 * At most one listener at a time, the newest; when it leaves, the one before it listens again.
 */
export class DigitQueue {
  readonly #typedAhead: string[] = [];
  readonly #listeners: ((digit: string) => void)[] = [];
  readonly #watchers: ((digit: string) => boolean)[] = [];

  push(digit: string): void {
    const listener = this.#listeners.at(-1);
    if (listener !== undefined) listener(digit);
    else if (this.#watchers.some((watcher) => watcher(digit))) return;
    else if (this.#typedAhead.length < TYPE_AHEAD_LIMIT) this.#typedAhead.push(digit);
  }

  /** The oldest digit that nobody has seen, if there is one. */
  take(): string | undefined {
    return this.#typedAhead.shift();
  }

  /**
   * Offers digits that nobody listens for, until the returned function is called. A watcher that answers true has used
   * the digit up.
   */
  watch(watcher: (digit: string) => boolean): () => void {
    this.#watchers.push(watcher);
    return () => {
      const index = this.#watchers.indexOf(watcher);
      if (index !== -1) this.#watchers.splice(index, 1);
    };
  }

  /** Listens until the returned function is called. Digits typed ahead stay for `take`. */
  listen(listener: (digit: string) => void): () => void {
    this.#listeners.push(listener);
    return () => {
      const index = this.#listeners.lastIndexOf(listener);
      if (index !== -1) this.#listeners.splice(index, 1);
    };
  }
}
