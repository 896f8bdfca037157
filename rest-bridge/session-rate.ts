/** Limits the requests of sessions. */
import { type SpentElsewhere, TokenBucket } from '../runtime/rate/index.ts';

/** Number of buckets checked for removal at a time. */
const MANY = 1000;

/** Limits each session's requests in a second. */
export class SessionRate {
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #elsewhere: SpentElsewhere | undefined;
  #sweepAt = MANY;

  /**
   * @param perSecond requests; 0: no limit
   * @param options.elsewhere the other nodes of a cluster
   * @param options.now milliseconds of a clock that never goes back
   */
  constructor(
    perSecond: number,
    {
      elsewhere,
      now = () => performance.now(),
    }: { readonly elsewhere?: SpentElsewhere; readonly now?: () => number } = {},
  ) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#elsewhere = perSecond === 0 ? undefined : elsewhere;
    this.#elsewhere?.hear((session, tokens) => this.#bucket(session, now()).spend(now(), tokens));
  }

  /**
   * Takes a request's token.
   * @param session id
   * @returns whole seconds to wait; 0: the request is allowed
   */
  take(session: string): number {
    if (this.#perSecond === 0) return 0;
    const now = this.#now();
    const bucket = this.#bucket(session, now);
    if (!bucket.take(now)) return Math.ceil(bucket.wait(now) / 1000);
    this.#elsewhere?.tell(session);
    return 0;
  }

  #bucket(session: string, now: number): TokenBucket {
    const known = this.#buckets.get(session);
    if (known !== undefined) return known;
    if (this.#buckets.size > this.#sweepAt) this.#sweep(now);
    const bucket = new TokenBucket(this.#perSecond);
    this.#buckets.set(session, bucket);
    return bucket;
  }

  /** A full bucket need not be kept. */
  #sweep(now: number): void {
    for (const [session, bucket] of this.#buckets) if (bucket.full(now)) this.#buckets.delete(session);
    this.#sweepAt = MANY + 2 * this.#buckets.size;
  }
}
