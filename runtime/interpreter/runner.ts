import type { CallPort } from './call-port.ts';
import type { ScenarioLibrary } from './library.ts';
import type { Log } from './log.ts';
import { type Run, startRun } from './run/run.ts';

/** Runs scenarios for calls that come in, and counts them. */
export class ScenarioRunner {
  readonly #library: ScenarioLibrary;
  readonly #log: Log;
  readonly #runs = new Map<string, Run>();

  constructor(library: ScenarioLibrary, log: Log) {
    this.#library = library;
    this.#log = log;
  }

  /** Runs that are under way. */
  get running(): number {
    return this.#runs.size;
  }

  /**
   * Starts the scenario of that code for a call; when the scenario is over, so is the call.
   * @returns false when there is no such scenario
   */
  async serve(code: string, call: CallPort): Promise<boolean> {
    const program = await this.#library.program(code);
    if (program === undefined) return false;
    const run = startRun(program, { call, log: this.#log });
    this.#runs.set(run.id, run);
    void run.finished.then(async (outcome) => {
      this.#runs.delete(run.id);
      const { status, error, milliseconds, steps } = outcome;
      const details = { scenario: code, run: run.id, status, error, milliseconds, steps };
      if (error === undefined) this.#log.info(details, 'scenario ended');
      else this.#log.warn(details, 'scenario failed');
      await call.hangup();
    });
    return true;
  }
}
