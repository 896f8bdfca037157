/** Bounds the requests of each sender that nobody vouches for. */
import { type SpentElsewhere, TokenBucket } from '../../rate/index.ts';
import { sourceOfLimits } from '../../sip-facts/index.ts';

/** Requests at once, in seconds of the rate: phones behind one address may all register after a failure of its network. */
const BURST_SECONDS = 5;
/** Number of addresses kept. The oldest is dropped first; it then has its burst again. */
const MAX_ADDRESSES = 50_000;

/** A rate limit for each IPv4 address, and each /64 of IPv6. */
export class SourceRate {
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #elsewhere: SpentElsewhere | undefined;
  readonly #buckets = new Map<string, TokenBucket>();

  /**
   * @param perSecond requests a second from one address; 0: no limit
   * @param now milliseconds of a clock that never goes back
   * @param elsewhere the other nodes of a cluster
   */
  constructor(perSecond: number, now: () => number = () => performance.now(), elsewhere?: SpentElsewhere) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#elsewhere = perSecond === 0 ? undefined : elsewhere;
    this.#elsewhere?.hear((address, tokens) => this.#bucket(address, now()).spend(now(), tokens));
  }

  /** Counts a request; false when the address is beyond its rate. */
  take(from: string): boolean {
    if (this.#perSecond === 0) return true;
    const now = this.#now();
    const address = sourceOfLimits(from);
    if (!this.#bucket(address, now).take(now)) return false;
    this.#elsewhere?.tell(address);
    return true;
  }

  #bucket(address: string, now: number): TokenBucket {
    const bucket = this.#buckets.get(address) ?? new TokenBucket(this.#perSecond, this.#perSecond * BURST_SECONDS);
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    for (const [known, idle] of this.#buckets) {
      if (known === address || (this.#buckets.size <= MAX_ADDRESSES && !idle.full(now))) break;
      this.#buckets.delete(known);
    }
    return bucket;
  }
}
