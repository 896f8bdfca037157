/** Admits new calls within the limits of a node. */
import { TokenBucket } from '../../rate/index.ts';

/** Limits of a node; 0: no limit. */
export interface CallLimits {
  /** Dialogs at once. */
  readonly calls: number;
  /** Calls begun in one second. */
  readonly startsPerSecond: number;
}

/** The limit that refuses a new call. */
export interface Overload {
  readonly reason: string;
  readonly retryAfterSeconds: number;
}

/** Retry-After, in seconds, of a node at its limit of calls: about the time until one of them ends. */
const RETRY_WHEN_FULL = 5;

/**
 * Admits new calls within the limits of a node. Beyond them it refuses new calls at once, to keep the quality of the live
 * ones.
 */
export class Admission {
  readonly #limits: CallLimits;
  readonly #live: () => number;
  readonly #now: () => number;
  readonly #starts: TokenBucket | undefined;

  /**
   * @param live dialogs at the moment
   * @param now milliseconds of a clock that never goes back
   */
  constructor(limits: CallLimits, live: () => number, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#live = live;
    this.#now = now;
    if (limits.startsPerSecond > 0) this.#starts = new TokenBucket(limits.startsPerSecond);
  }

  /** Undefined when the call may begin, which is counted then. */
  refuse(): Overload | undefined {
    const { calls, startsPerSecond } = this.#limits;
    if (calls > 0 && this.#live() >= calls)
      return { reason: `the node is at its limit of ${calls} calls`, retryAfterSeconds: RETRY_WHEN_FULL };
    if (this.#starts === undefined || this.#starts.take(this.#now())) return undefined;
    return { reason: `the node is at its limit of ${startsPerSecond} new calls a second`, retryAfterSeconds: 1 };
  }
}
