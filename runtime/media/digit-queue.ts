/** Largest number of queued digits; further ones are dropped. */
const TYPE_AHEAD_LIMIT = 128;

/**
 * DTMF digits of one party, passed to the current listener or queued for the next one (type-ahead). Only the newest
 * listener is active; after it, the one before listens again.
 */
export class DigitQueue {
  /** Called when somebody begins to listen or to watch. */
  onListener: () => void = () => undefined;
  readonly #typedAhead: string[] = [];
  readonly #listeners: ((digit: string) => void)[] = [];
  readonly #watchers: ((digit: string) => boolean)[] = [];

  push(digit: string): void {
    const listener = this.#listeners.at(-1);
    if (listener !== undefined) listener(digit);
    else if (this.#watchers.some((watcher) => watcher(digit))) return;
    else if (this.#typedAhead.length < TYPE_AHEAD_LIMIT) this.#typedAhead.push(digit);
  }

  /** Whether somebody listens or watches. */
  get heard(): boolean {
    return this.#listeners.length + this.#watchers.length > 0;
  }

  /** The oldest queued digit, if any. */
  take(): string | undefined {
    return this.#typedAhead.shift();
  }

  /**
   * Offers digits without a listener to `watch`, until the returned function is called. A watcher that returns true has
   * consumed the digit.
   */
  watch(watcher: (digit: string) => boolean): () => void {
    this.#watchers.push(watcher);
    this.onListener();
    return () => {
      const index = this.#watchers.indexOf(watcher);
      if (index !== -1) this.#watchers.splice(index, 1);
    };
  }

  /** Listens until the returned function is called. Queued digits stay for `take`. */
  listen(listener: (digit: string) => void): () => void {
    this.#listeners.push(listener);
    this.onListener();
    return () => {
      const index = this.#listeners.lastIndexOf(listener);
      if (index !== -1) this.#listeners.splice(index, 1);
    };
  }
}
