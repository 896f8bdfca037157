import type { StopMelodyMode } from '../../runs/ports/dialogs.ts';

/** Whether the side that waits hears a melody, hold after hold, for the life of one dialog. */
export class HoldMelody {
  #next: 'plays' | 'skipped' | 'off';

  /** @param isOff stopped for good, before a transfer */
  constructor(isOff: boolean) {
    this.#next = isOff ? 'off' : 'plays';
  }

  /** Whether it is stopped for good. */
  get isOff(): boolean {
    return this.#next === 'off';
  }

  /** A hold begins: whether it has a melody. */
  begin(): boolean {
    const plays = this.#next === 'plays';
    if (this.#next === 'skipped') this.#next = 'plays';
    return plays;
  }

  /**
   * @param held whether the call is on hold
   * @returns whether the melody of this hold is to stop; undefined when the mode needs a hold and there is none
   */
  stop(mode: StopMelodyMode, held: boolean): boolean | undefined {
    if (mode === 'temporary') return held ? true : undefined;
    if (mode === 'permanent') this.#next = 'off';
    else if (!held && this.#next === 'plays') this.#next = 'skipped';
    return held;
  }
}
