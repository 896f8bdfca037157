/** Counts sessions, sessions a second and their peaks, for `status` and HEARTBEAT. */
export class SessionRate {
  #sinceStart = 0;
  #peak = 0;
  #second = 0;
  #thisSecond = 0;
  #lastSecond = 0;
  #peakRate = 0;

  /** Counts a new session. @param current number of live sessions, this one included */
  began(current: number): void {
    this.#turn();
    this.#sinceStart += 1;
    this.#thisSecond += 1;
    this.#peak = Math.max(this.#peak, current);
    this.#peakRate = Math.max(this.#peakRate, this.#thisSecond);
  }

  figures(): { sinceStart: number; peak: number; lastSecond: number; peakRate: number } {
    this.#turn();
    return {
      sinceStart: this.#sinceStart,
      peak: this.#peak,
      lastSecond: this.#lastSecond,
      peakRate: this.#peakRate,
    };
  }

  /** Number of the next session, from 1. */
  next(): number {
    return this.#sinceStart + 1;
  }

  #turn(): void {
    const second = Math.floor(Date.now() / 1000);
    if (second === this.#second) return;
    this.#lastSecond = second === this.#second + 1 ? this.#thisSecond : 0;
    this.#second = second;
    this.#thisSecond = 0;
  }
}
