/**
 * A rate limit with bursts: a bucket of tokens with a constant refill. The only state is the time at which it is full
 * again, the theoretical arrival time of the generic cell rate algorithm (ITU-T I.371). Times are milliseconds of a
 * monotonic clock.
 */
export class TokenBucket {
  readonly #intervalMs: number;
  readonly #capacityMs: number;
  #fullAt = Number.NEGATIVE_INFINITY;

  /**
   * @param perSecond tokens refilled per second, more than 0
   * @param atOnce capacity of the bucket; default: one second's worth, at least one
   */
  constructor(perSecond: number, atOnce: number = Math.max(1, perSecond)) {
    this.#intervalMs = 1000 / perSecond;
    this.#capacityMs = atOnce * this.#intervalMs;
  }

  /** Takes a token; false without effect when the bucket is empty. */
  take(now: number): boolean {
    if (this.wait(now) > 0) return false;
    this.spend(now);
    return true;
  }

  /** Takes tokens, also in advance. */
  spend(now: number, tokens = 1): void {
    this.#fullAt = Math.max(this.#fullAt, now) + tokens * this.#intervalMs;
  }

  /** Milliseconds until this number of tokens is available; 0 tokens: until no advance remains. */
  wait(now: number, tokens = 1): number {
    return Math.max(0, this.#fullAt + tokens * this.#intervalMs - now - this.#capacityMs);
  }

  /** True when the bucket is full. */
  full(now: number): boolean {
    return this.#fullAt <= now;
  }
}
