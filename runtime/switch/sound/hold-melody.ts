/** Decides which holds play the melody. */
import type { StopMelodyMode } from '../../runs/index.ts';
import { StateMachine, type TransitionTable } from '../../transitions/index.ts';

/** What the next hold does: it plays the melody, it alone is silent, or it is silent like all later ones. */
export type HoldMelodyState = 'plays' | 'skipped' | 'off';
export type HoldMelodyEvent = 'skip' | 'hold' | 'stop';

export const HOLD_MELODY_TRANSITIONS: TransitionTable<HoldMelodyState, HoldMelodyEvent> = {
  plays: { skip: 'skipped', hold: 'plays', stop: 'off' },
  skipped: { hold: 'plays', stop: 'off' },
  off: {},
};

/** Decides for each hold of a dialog whether the waiting side hears the melody (specification, "STOP_HOLD_MELODY"). */
export class HoldMelody {
  readonly #next: StateMachine<HoldMelodyState, HoldMelodyEvent>;

  /** @param isOff true: the melody was stopped for good before a transfer */
  constructor(isOff: boolean) {
    this.#next = new StateMachine(HOLD_MELODY_TRANSITIONS, isOff ? 'off' : 'plays');
  }

  /** True when the melody is stopped for good. */
  get isOff(): boolean {
    return this.#next.is('off');
  }

  /** Begins a hold. @returns whether it plays the melody */
  begin(): boolean {
    return this.#next.step('hold') === 'plays';
  }

  /**
   * @param held whether the call is on hold
   * @returns true when the melody of this hold has to stop; undefined when the mode needs a call on hold
   */
  stop(mode: StopMelodyMode, held: boolean): boolean | undefined {
    if (mode === 'temporary') return held ? true : undefined;
    if (mode === 'permanent') this.#next.step('stop');
    else if (!held) this.#next.step('skip');
    return held;
  }
}
