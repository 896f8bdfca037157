import { TokenBucket } from '../../rate/index.ts';

/** Limits of a node; 0: none. */
export interface CallLimits {
  /** Dialogs at once. */
  readonly calls: number;
  /** Calls begun in one second. */
  readonly startsPerSecond: number;
}

/** Why no call may begin now. */
export interface Overload {
  readonly reason: string;
  readonly retryAfterSeconds: number;
}

/** Seconds after which a caller may try again when all places are taken: about as long as it takes until one is free. */
const RETRY_WHEN_FULL = 5;

/**
 * Whether one more call may begin. Beyond its limits a node refuses new calls at once, so that those that it has stay
 * as good as they are.
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

  /** Undefined when the call may begin; it is counted as begun then. */
  refuse(): Overload | undefined {
    const { calls, startsPerSecond } = this.#limits;
    if (calls > 0 && this.#live() >= calls)
      return { reason: `the node has ${calls} calls, its limit`, retryAfterSeconds: RETRY_WHEN_FULL };
    if (this.#starts === undefined || this.#starts.take(this.#now())) return undefined;
    return { reason: `the node begins ${startsPerSecond} calls a second at most`, retryAfterSeconds: 1 };
  }
}
