/**
 * Keeps answers to a rate, so that a script in a tight loop of commands does not take the host's time: a token bucket
 * that holds one second's worth.
 */
export class Pace {
  readonly #intervalMs: number;
  /** When the bucket would be full again. */
  #fullAt = 0;

  constructor(perSecond: number) {
    this.#intervalMs = 1000 / perSecond;
  }

  /** Takes a token. @param now milliseconds. @returns milliseconds to wait before using it */
  take(now: number): number {
    this.#fullAt = Math.max(this.#fullAt, now) + this.#intervalMs;
    return Math.max(0, this.#fullAt - now - 1000);
  }
}
