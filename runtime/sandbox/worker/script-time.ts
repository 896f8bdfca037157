/** Processor time of a script. */
import type { LimitName } from '../limits.ts';

/** The processor time that a script may use now, and the deciding limit. */
export interface TimeLimit {
  readonly milliseconds: number;
  readonly name: LimitName;
}

/** Processor time used by one script in all its isolates; repetitions do not count. */
export class ScriptTime {
  readonly #cpuMs: number;
  readonly #activationMs: number;
  #used = 0;
  #lastTurn = 0;

  /**
   * @param limits milliseconds of processor time, in total and per turn
   * @param used milliseconds used before
   */
  constructor({ cpuMs, activationMs }: { readonly cpuMs: number; readonly activationMs: number }, used = 0) {
    this.#cpuMs = cpuMs;
    this.#activationMs = activationMs;
    this.#used = used;
  }

  /** A turn has ended. @param milliseconds used by it */
  count(milliseconds: number): void {
    this.#lastTurn = milliseconds;
    this.#used += milliseconds;
  }

  /** Milliseconds used in ended turns. */
  get used(): number {
    return this.#used;
  }

  /** The limit exceeded by the last turn. */
  get exceeded(): LimitName | undefined {
    if (this.#used > this.#cpuMs) return 'cpuMs';
    return this.#lastTurn > this.#activationMs ? 'activationMs' : undefined;
  }

  /** Limit of a repeated turn, which is measured again and was within its limits before. */
  get limitAgain(): TimeLimit {
    return { milliseconds: 2 * this.#activationMs, name: 'activationMs' };
  }

  /** Limit of the turn that begins now. */
  get limit(): TimeLimit {
    const left = Math.ceil(this.#cpuMs - this.#used);
    return {
      milliseconds: Math.max(1, Math.min(this.#activationMs, left)),
      name: left < this.#activationMs ? 'cpuMs' : 'activationMs',
    };
  }
}
