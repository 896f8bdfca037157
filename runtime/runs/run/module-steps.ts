/** The step limit of modules. */
import type { Clock } from '../clock.ts';
import { StepBudget } from './step-budget.ts';

/** A pause of so many milliseconds between commands ends a tight loop; the delay of slowed answers is shorter. */
const IDLE_MS = 250;

/** Detects a module that continues without a wait: see `StepBudget`. Time without a command counts as a wait. */
export class ModuleSteps {
  readonly #clock: Clock;
  readonly #limit: number;
  #budget: StepBudget;
  /** Time of the last start or end of a command. */
  #idleSince: number;

  constructor(clock: Clock, limit: number) {
    this.#clock = clock;
    this.#limit = limit;
    this.#budget = new StepBudget(limit);
    this.#idleSince = clock.now();
  }

  /**
   * Counts the start of a command. The count restarts after the limit.
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

  /** Notes the end of a command. */
  end(began: number): void {
    this.#idleSince = this.#clock.now();
    this.#budget.took(this.#idleSince - began);
  }
}
