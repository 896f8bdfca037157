import { TokenBucket } from '../../rate/index.ts';

/** Starts of one scenario by events: so many in a row, then so many a second, and so many in progress at once. */
const AT_ONCE = 200;
const PER_SECOND = 100;
const IN_PROGRESS = 200;

/** Keeps a scenario that its own events start, by itself or by way of others, from taking the whole node. */
export class StartRate {
  readonly #bucket = new TokenBucket(PER_SECOND, AT_ONCE);
  #inProgress = 0;

  /**
   * Takes what a start costs.
   * @param now milliseconds
   * @returns false when there were too many
   */
  take(now: number): boolean {
    if (this.#inProgress >= IN_PROGRESS || !this.#bucket.take(now)) return false;
    this.#inProgress += 1;
    return true;
  }

  /** A run that was started is over. */
  ended(): void {
    this.#inProgress -= 1;
  }
}
