import { setImmediate } from 'node:timers/promises';
import { ScenarioError } from '../../language/index.ts';

/** A block that takes this long has waited for something: the run is no tight loop. */
const WAIT_MS = 20;
/** After so many steps in a row everybody else gets a turn. */
const YIELD_EVERY = 50;

/** Keeps a run that never waits from starving the process: it yields now and then, and fails at the limit. */
export class StepBudget {
  readonly #limit: number;
  #steps = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Called before each block.
   * @throws ScenarioError code `step_limit`
   */
  async step(): Promise<void> {
    this.count();
    if (this.#steps % YIELD_EVERY === 0) await setImmediate();
  }

  /**
   * The same for steps between which everybody else has a turn anyway.
   * @throws ScenarioError code `step_limit`
   */
  count(): void {
    this.#steps += 1;
    if (this.#steps > this.#limit) {
      throw new ScenarioError('step_limit', `the run made ${this.#limit} steps without waiting for anything`);
    }
  }

  /** Called after a block with the milliseconds it took, and with those that passed between two steps. */
  took(milliseconds: number): void {
    if (milliseconds >= WAIT_MS) this.#steps = 0;
  }
}
