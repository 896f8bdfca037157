import type { Clock } from '../clock.ts';

/** A time limit that can be suspended. */
export class TimeLimit {
  readonly #clock: Clock;
  readonly #onOver: () => void;
  #left: number;
  #began = 0;
  /** Its current suspensions. */
  #holds = 0;
  /** Ends the wait; undefined while suspended. */
  #waiting: AbortController | undefined;
  #cancelled = false;

  /**
   * Starts at once.
   * @param milliseconds duration, without the suspended time
   */
  constructor(clock: Clock, milliseconds: number, onOver: () => void) {
    this.#clock = clock;
    this.#left = milliseconds;
    this.#onOver = onOver;
    this.#goOn();
  }

  /** Suspends it. @returns a function that resumes it; further calls have no effect */
  hold(): () => void {
    this.#holds += 1;
    if (this.#waiting) {
      this.#left -= this.#clock.now() - this.#began;
      this.#waiting.abort();
      this.#waiting = undefined;
    }
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      this.#goOn();
    };
  }

  /** Stops it for good. */
  cancel(): void {
    this.#cancelled = true;
    this.#waiting?.abort();
  }

  #goOn(): void {
    if (this.#holds > 0 || this.#cancelled) return;
    this.#began = this.#clock.now();
    const waiting = new AbortController();
    this.#waiting = waiting;
    this.#clock.sleep(Math.max(0, this.#left), waiting.signal).then(
      () => this.#onOver(),
      () => undefined,
    );
  }
}
