/** Limits the starts of a scenario by events. */
import { TokenBucket } from '../../rate/index.ts';

/** Limits of one scenario's starts by events: burst, starts a second, and concurrent runs. */
const AT_ONCE = 200;
const PER_SECOND = 100;
const IN_PROGRESS = 200;

/** Keeps a scenario that starts itself by its own events, directly or through others, from overloading the node. */
export class StartRate {
  readonly #bucket = new TokenBucket(PER_SECOND, AT_ONCE);
  #inProgress = 0;

  /**
   * Takes the tokens of one start.
   * @param now milliseconds
   * @returns false over the limit
   */
  take(now: number): boolean {
    if (this.#inProgress >= IN_PROGRESS || !this.#bucket.take(now)) return false;
    this.#inProgress += 1;
    return true;
  }

  /** Notes the end of a started run. */
  ended(): void {
    this.#inProgress -= 1;
  }
}
