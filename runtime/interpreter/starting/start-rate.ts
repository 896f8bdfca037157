/** Starts of one scenario by events: so many in a row, then so many a second, and so many in progress at once. */
const AT_ONCE = 200;
const PER_SECOND = 100;
const IN_PROGRESS = 200;

/**
 * Keeps a scenario that its own events start, by itself or by way of others, from taking the whole node: a token bucket.
 */
export class StartRate {
  /** When the bucket would be full again, milliseconds. */
  #fullAt = 0;
  #inProgress = 0;

  /**
   * Takes what a start costs.
   * @param now milliseconds
   * @returns false when there were too many
   */
  take(now: number): boolean {
    const fullAt = Math.max(this.#fullAt, now) + 1000 / PER_SECOND;
    if (this.#inProgress >= IN_PROGRESS || fullAt - now > (AT_ONCE * 1000) / PER_SECOND) return false;
    this.#fullAt = fullAt;
    this.#inProgress += 1;
    return true;
  }

  /** A run that was started is over. */
  ended(): void {
    this.#inProgress -= 1;
  }
}
