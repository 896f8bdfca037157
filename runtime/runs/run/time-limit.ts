import type { Clock } from '../clock.ts';

/** A span of time after which something is ended; it can stand still meanwhile. */
export class TimeLimit {
  readonly #clock: Clock;
  readonly #onOver: () => void;
  #left: number;
  #began = 0;
  /** Who holds it up. */
  #holds = 0;
  /** Ends the wait; undefined while there is none. */
  #waiting: AbortController | undefined;
  #cancelled = false;

  /**
   * Begins at once.
   * @param milliseconds until it is over, but for the time in which it stands still
   */
  constructor(clock: Clock, milliseconds: number, onOver: () => void) {
    this.#clock = clock;
    this.#left = milliseconds;
    this.#onOver = onOver;
    this.#goOn();
  }

  /** Lets it stand still. @returns to be called when it may go on; more often is no matter */
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

  /** It is of no more use. */
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
