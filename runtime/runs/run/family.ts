import { type Program, ScenarioError } from '../../language/index.ts';
import type { Run, RunOptions } from './run.ts';

/** How many runs that came of one may be in progress at once. */
const MAX_LIVE = 1000;

/** Where a run stands among those that came of one another. */
export interface RunPlace {
  readonly family: Family;
  /** How many runs are above this one. */
  readonly depth: number;
  /** The call belongs to the run that started this one, and is left as it is at the end. */
  readonly borrowedCall: boolean;
}

/** Starts a run of whatever kind the program is, in its place. */
export type BeginRun = (program: Program, options: RunOptions, place: RunPlace) => Run;

/** A run that nobody's run has started, and everything that came of it. */
export class Family {
  readonly #begin: BeginRun;
  #live = 0;

  constructor(begin: BeginRun) {
    this.#begin = begin;
  }

  /** @throws ScenarioError code `too_many` */
  expectRoom(): void {
    if (this.#live >= MAX_LIVE)
      throw new ScenarioError('too_many', `${MAX_LIVE} scenarios that came of one run are in progress`);
  }

  /**
   * Starts a run that comes of another one.
   * @throws ArgumentError for arguments the parameters do not allow
   */
  start(program: Program, options: RunOptions, place: Omit<RunPlace, 'family'>): Run {
    const run = this.#begin(program, options, { ...place, family: this });
    this.#live += 1;
    void run.finished.then(() => (this.#live -= 1));
    return run;
  }
}
