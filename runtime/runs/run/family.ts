/** A run with all runs that descend from it. */
import { type Program, ScenarioError } from '../../language/index.ts';
import type { Run, RunOptions } from './run.ts';
import { Sensitive } from './sensitive.ts';

/** Limit of concurrent runs in one family. */
const MAX_LIVE = 1000;

/** The place of a run in its family. */
export interface RunPlace {
  readonly family: Family;
  /** Number of ancestors. */
  readonly depth: number;
  /** The call belongs to the parent run and stays up at the end. */
  readonly borrowedCall: boolean;
}

/** Starts a run of either kind of program, at its place in the family. */
export type BeginRun = (program: Program, options: RunOptions, place: RunPlace) => Run;

/** A run without a parent, with all its descendants. */
export class Family {
  readonly #begin: BeginRun;
  /** What its callers pressed or said in secret. */
  readonly sensitive: Sensitive;
  #live = 0;
  #first: string | undefined;

  /** @param sensitive of the run that handed over its values */
  constructor(begin: BeginRun, sensitive: Sensitive = new Sensitive()) {
    this.#begin = begin;
    this.sensitive = sensitive;
  }

  /** A run joins. @returns the id of the run at the top */
  join(id: string): string {
    this.#first ??= id;
    return this.#first;
  }

  /** @throws ScenarioError code `too_many` */
  expectRoom(): void {
    if (this.#live >= MAX_LIVE)
      throw new ScenarioError('too_many', `${MAX_LIVE} scenarios started from one run are in progress`);
  }

  /**
   * Starts a child run.
   * @throws ArgumentError for arguments the parameters do not allow
   */
  start(program: Program, options: RunOptions, place: Omit<RunPlace, 'family'>): Run {
    const run = this.#begin(program, options, { ...place, family: this });
    this.#live += 1;
    void run.finished.then(() => (this.#live -= 1));
    return run;
  }
}
