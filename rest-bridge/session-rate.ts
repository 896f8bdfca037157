/** Buckets that are looked through at once when there are many. */
const MANY = 1000;

/**
 * How many requests each session may make: a token bucket of its own, which holds one second's worth. Kept is when a bucket is
 * full again; a full one need not be kept.
 */
export class SessionRate {
  readonly #intervalMs: number;
  readonly #now: () => number;
  readonly #fullAt = new Map<string, number>();
  #sweepAt = MANY;

  /**
   * @param perSecond requests; 0: no limit
   * @param now milliseconds of a clock that never goes back
   */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#intervalMs = perSecond === 0 ? 0 : 1000 / perSecond;
    this.#now = now;
  }

  /**
   * Takes a request's token.
   * @param session id
   * @returns whole seconds to wait; 0: the request may go on
   */
  take(session: string): number {
    if (this.#intervalMs === 0) return 0;
    const now = this.#now();
    const fullAt = Math.max(this.#fullAt.get(session) ?? 0, now) + this.#intervalMs;
    // A rate below one a second still lets one request go.
    const excessMs = fullAt - now - Math.max(1000, this.#intervalMs);
    if (excessMs > 0) return Math.ceil(excessMs / 1000);
    this.#fullAt.set(session, fullAt);
    if (this.#fullAt.size > this.#sweepAt) this.#sweep(now);
    return 0;
  }

  #sweep(now: number): void {
    for (const [session, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(session);
    this.#sweepAt = MANY + 2 * this.#fullAt.size;
  }
}
