/** Digits beyond this are dropped: nobody types ahead that far. */
const TYPE_AHEAD_LIMIT = 128;

/**
 * DTMF digits of one party: handed to whoever listens, kept for the next listener when nobody does (type-ahead).
 * At most one listener at a time, the newest; when it leaves, the one before it listens again.
 */
export class DigitQueue {
  readonly #typedAhead: string[] = [];
  readonly #listeners: ((digit: string) => void)[] = [];

  push(digit: string): void {
    const listener = this.#listeners.at(-1);
    if (listener !== undefined) listener(digit);
    else if (this.#typedAhead.length < TYPE_AHEAD_LIMIT) this.#typedAhead.push(digit);
  }

  /** The oldest digit that nobody has seen, if there is one. */
  take(): string | undefined {
    return this.#typedAhead.shift();
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
