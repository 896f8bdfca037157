/** Admits new calls within the limits of a node, and as long as it is not overloaded. */
import { TokenBucket } from '../../rate/index.ts';

/** Limits of a node; 0: no limit. */
export interface CallLimits {
  /** Dialogs at once. */
  readonly calls: number;
  /** Calls begun in one second. */
  readonly startsPerSecond: number;
}

/** What {@link Admission} looks at. */
export interface LoadedNode {
  /** Dialogs at the moment. */
  readonly live: () => number;
  /** Called for a call that is refused as late. */
  readonly overloaded?: () => void;
}

/** The limit that refuses a new call. */
export interface Overload {
  readonly reason: string;
  readonly retryAfterSeconds: number;
}

/** Retry-After, in seconds, of a node at its limit of calls: about the time until one of them ends. */
const RETRY_WHEN_FULL = 5;
/**
 * Retry-After, in seconds, of an overloaded node: the queue drains within a second. A proxy or gateway sends nothing meanwhile
 * (RFC 3261 section 21.5.4), so more would leave the node idle.
 */
const RETRY_WHEN_SLOW = 1;

/**
 * Admits new calls within the limits of a node, and as long as they are set up in time. Beyond that it refuses new calls at
 * once, to keep the quality of the live ones.
 */
export class Admission {
  readonly #limits: CallLimits;
  readonly #node: LoadedNode;
  readonly #now: () => number;
  readonly #starts: TokenBucket | undefined;

  /** @param now milliseconds of a clock that never goes back */
  constructor(limits: CallLimits, node: LoadedNode, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#node = node;
    this.#now = now;
    if (limits.startsPerSecond > 0) this.#starts = new TokenBucket(limits.startsPerSecond);
  }

  /**
   * @param late whether the call would be set up too late
   * @returns undefined when the call may begin, which is counted then
   */
  refuse(late: boolean): Overload | undefined {
    const { calls, startsPerSecond } = this.#limits;
    const { live, overloaded } = this.#node;
    if (calls > 0 && live() >= calls)
      return { reason: `the node is at its limit of ${calls} calls`, retryAfterSeconds: RETRY_WHEN_FULL };
    if (late) {
      overloaded?.();
      return { reason: 'the node is overloaded: calls take too long to set up', retryAfterSeconds: RETRY_WHEN_SLOW };
    }
    if (this.#starts === undefined || this.#starts.take(this.#now())) return undefined;
    return { reason: `the node is at its limit of ${startsPerSecond} new calls a second`, retryAfterSeconds: 1 };
  }
}
