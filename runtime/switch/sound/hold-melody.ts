import type { StopMelodyMode } from '../../runs/index.ts';
import { StateMachine, type TransitionTable } from '../../transitions/index.ts';

/** What the next hold does: it plays the melody, it is the one that is skipped, or no hold plays any more. */
export type HoldMelodyState = 'plays' | 'skipped' | 'off';
export type HoldMelodyEvent = 'skip' | 'hold' | 'stop';

export const HOLD_MELODY_TRANSITIONS: TransitionTable<HoldMelodyState, HoldMelodyEvent> = {
  plays: { skip: 'skipped', hold: 'plays', stop: 'off' },
  skipped: { hold: 'plays', stop: 'off' },
  off: {},
};

/** Whether the side that waits hears a melody, hold after hold, for the life of one dialog. */
export class HoldMelody {
  readonly #next: StateMachine<HoldMelodyState, HoldMelodyEvent>;

  /** @param isOff stopped for good, before a transfer */
  constructor(isOff: boolean) {
    this.#next = new StateMachine(HOLD_MELODY_TRANSITIONS, isOff ? 'off' : 'plays');
  }

  /** Whether it is stopped for good. */
  get isOff(): boolean {
    return this.#next.is('off');
  }

  /** A hold begins: whether it has a melody. */
  begin(): boolean {
    return this.#next.step('hold') === 'plays';
  }

  /**
   * @param held whether the call is on hold
   * @returns whether the melody of this hold is to stop; undefined when the mode needs a hold and there is none
   */
  stop(mode: StopMelodyMode, held: boolean): boolean | undefined {
    if (mode === 'temporary') return held ? true : undefined;
    if (mode === 'permanent') this.#next.step('stop');
    else if (!held) this.#next.step('skip');
    return held;
  }
}
