/** Foretells how long the next one in a queue waits, and whether that is too long. */

/** Milliseconds above which one has waited for others. */
const SLOW_MS = 100;
/** Milliseconds of nothing but slow ones that make a standing queue. After a burst or a pause, some are fast. */
const STANDING_MS = 150;
/** Weight of earlier ones at each new one: about the last twenty count. */
const MEMORY = 0.95;
/** Growth of the time of a lone one at each that took longer: a media server may move away. */
const DRIFT = 1.25;

/** Of a queue. */
export interface Bounds {
  /** How many of a call are in the queue. */
  readonly ofCall: number;
  /** Calls that are no queue, however slow each is. */
  readonly few: number;
  /** Calls that are too many to wait for a proof that the queue stands. */
  readonly many: number;
  /** Milliseconds for the next one above which an overload begins. */
  readonly mostMs: number;
  /** The same while it lasts: shorter, so that accepted calls are set up fast. */
  readonly overloadedMs: number;
}

/**
 * The time for the next one is foretold as its place in the queue, times the recent time for each place (Little's law). A measured time
 * alone shows an overload too late, when many wait already. As in CoDel (RFC 8289), only a standing queue counts. A burst, a garbage
 * collection or a stopped process leaves one that drains.
 */
export class WaitForecast {
  readonly #bounds: Bounds;
  readonly #now: () => number;
  /** Time of the first of the slow ones in a row. */
  #slowSince: number | undefined;
  #standing = false;
  #overloaded = false;
  /** Milliseconds of one that waits for no other: for an endpoint 3 to 60 nearby, more for a media server far away. */
  #aloneMs = Number.POSITIVE_INFINITY;
  /** Sums over the latest: the milliseconds that they waited, and their places in the queue. */
  #milliseconds = 0;
  #places = 0;

  /** @param now milliseconds of a clock that never goes back */
  constructor(bounds: Bounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** Takes one that has left the queue. @param place its place when it entered, 1 for the first */
  left(milliseconds: number, place: number): void {
    if (place === 1) this.#aloneMs = Math.min(milliseconds, this.#aloneMs * DRIFT);
    const waited = Math.max(0, milliseconds - this.#aloneMs);
    const now = this.#now();
    this.#slowSince = waited > SLOW_MS ? (this.#slowSince ?? now) : undefined;
    this.#standing = this.#slowSince !== undefined && now - this.#slowSince >= STANDING_MS;
    this.#milliseconds = this.#milliseconds * MEMORY + waited;
    this.#places = this.#places * MEMORY + place;
  }

  /** The queue is empty. That ends an overload, and what was measured in it says nothing about the next calls. */
  drained(): void {
    this.#slowSince = undefined;
    this.#standing = false;
    this.#overloaded = false;
    this.#milliseconds = 0;
    this.#places = 0;
  }

  /**
   * Milliseconds that one more is expected to wait for others. While none has left the queue: 0, or without end for too many, of which
   * a media server may make none before its timeouts.
   * @param length of the queue
   * @param coming how many enter it first
   */
  waitMs(length: number, coming = 0): number {
    if (this.#places === 0) return length < this.#bounds.many * this.#bounds.ofCall ? 0 : Number.POSITIVE_INFINITY;
    return ((length + 1 + coming) * this.#milliseconds) / this.#places;
  }

  /** During overload, the number of calls that may come now: those that would be in time. Otherwise undefined: any. */
  room(length: number): number | undefined {
    const { ofCall, few, overloadedMs } = this.#bounds;
    if (!this.#overloaded || length < few * ofCall) return undefined;
    const most = Math.floor((overloadedMs * this.#places) / this.#milliseconds);
    return Math.max(0, Math.ceil((most - length) / ofCall));
  }

  /** True when a further call would wait too long. */
  refuses(length: number, coming = 0): boolean {
    return this.overloaded(length, coming) && this.waitMs(length, coming) > this.#bounds.overloadedMs;
  }

  /** Whether an overload lasts, which begins here. */
  overloaded(length: number, coming = 0): boolean {
    const { ofCall, few, many, mostMs } = this.#bounds;
    if (length < few * ofCall) return false;
    const queued = this.#standing || length >= many * ofCall;
    if (queued && this.waitMs(length, coming) > mostMs) this.#overloaded = true;
    return this.#overloaded;
  }
}
