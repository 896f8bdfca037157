import type { Clock } from '../clock.ts';
import { StepBudget } from './step-budget.ts';

/** Milliseconds without a command after which a module is in no tight loop; the pace at which it is answered takes less. */
const IDLE_MS = 250;

/** Notices a module that goes on and on without a wait: see `StepBudget`. While it gives no command it waits, too. */
export class ModuleSteps {
  readonly #clock: Clock;
  readonly #limit: number;
  #budget: StepBudget;
  /** When the last command began or was done. */
  #idleSince: number;

  constructor(clock: Clock, limit: number) {
    this.#clock = clock;
    this.#limit = limit;
    this.#budget = new StepBudget(limit);
    this.#idleSince = clock.now();
  }

  /**
   * A command begins. After the limit it counts from the beginning.
   * @throws ScenarioError code `step_limit`
   */
  begin(): void {
    const idle = this.#clock.now() - this.#idleSince;
    if (idle >= IDLE_MS) this.#budget.took(idle);
    this.#idleSince = this.#clock.now();
    try {
      this.#budget.count();
    } catch (error) {
      this.#budget = new StepBudget(this.#limit);
      throw error;
    }
  }

  /** A command that began then is done. */
  end(began: number): void {
    this.#idleSince = this.#clock.now();
    this.#budget.took(this.#idleSince - began);
  }
}
