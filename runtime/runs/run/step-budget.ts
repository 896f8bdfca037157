/** The step limit of a run. */
import { setImmediate } from 'node:timers/promises';
import { ScenarioError } from '../../language/index.ts';
import { busy, type Clock } from '../clock.ts';

/** A block that takes this long has waited: the run is not in a tight loop. */
const WAIT_MS = 20;
/** Number of steps after which the run yields. */
const YIELD_EVERY = 50;

/** Keeps a run that never waits from starving the process: it yields regularly and fails at the limit. */
export class StepBudget {
  readonly #limit: number;
  #steps = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Called before each block. A virtual clock stands still while the run yields, so that no simulated time passes.
   * @throws ScenarioError code `step_limit`
   */
  async step(clock: Clock): Promise<void> {
    this.count();
    if (this.#steps % YIELD_EVERY === 0) await busy(clock, setImmediate());
  }

  /**
   * The same for steps that yield in any case.
   * @throws ScenarioError code `step_limit`
   */
  count(): void {
    this.#steps += 1;
    if (this.#steps > this.#limit) {
      throw new ScenarioError('step_limit', `the run made ${this.#limit} steps without waiting for anything`);
    }
  }

  /** Called after a block with its duration, and with the time between two steps, in milliseconds. */
  took(milliseconds: number): void {
    if (milliseconds >= WAIT_MS) this.#steps = 0;
  }
}
