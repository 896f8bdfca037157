/**
 * A limit of so many a second, with so many at once: a bucket of tokens that refills by itself. It keeps only when it is full
 * again, which is what the generic cell rate algorithm (ITU-T I.371) calls the theoretical arrival time. Times are milliseconds
 * of a clock that never goes back.
 */
export class TokenBucket {
  readonly #intervalMs: number;
  readonly #capacityMs: number;
  #fullAt = Number.NEGATIVE_INFINITY;

  /**
   * @param perSecond tokens that come back in a second, more than 0
   * @param atOnce tokens of a full bucket; one second's worth, but at least one, unless said
   */
  constructor(perSecond: number, atOnce: number = Math.max(1, perSecond)) {
    this.#intervalMs = 1000 / perSecond;
    this.#capacityMs = atOnce * this.#intervalMs;
  }

  /** Takes a token; false, and nothing is taken, when there is none. */
  take(now: number): boolean {
    if (this.wait(now) > 0) return false;
    this.spend(now);
    return true;
  }

  /** Takes tokens, also such as are not there yet. */
  spend(now: number, tokens = 1): void {
    this.#fullAt = Math.max(this.#fullAt, now) + tokens * this.#intervalMs;
  }

  /** Milliseconds until so many tokens are there; 0 tokens: until nothing is owed. */
  wait(now: number, tokens = 1): number {
    return Math.max(0, this.#fullAt + tokens * this.#intervalMs - now - this.#capacityMs);
  }

  /** Whether all tokens are there. */
  full(now: number): boolean {
    return this.#fullAt <= now;
  }
}
