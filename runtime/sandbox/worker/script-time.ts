import type { LimitName } from '../limits.ts';

/** How much processor time a script may use now, and the limit that says so. */
export interface TimeLimit {
  readonly milliseconds: number;
  readonly name: LimitName;
}

/** The processor time that one script has used, over all isolates it was in; doing things again does not count. */
export class ScriptTime {
  readonly #cpuMs: number;
  readonly #activationMs: number;
  #used = 0;
  #lastTurn = 0;

  /**
   * @param limits milliseconds of processor time, for all and for one turn
   * @param used milliseconds that it has used before
   */
  constructor({ cpuMs, activationMs }: { readonly cpuMs: number; readonly activationMs: number }, used = 0) {
    this.#cpuMs = cpuMs;
    this.#activationMs = activationMs;
    this.#used = used;
  }

  /** A turn is over. @param milliseconds that it used */
  count(milliseconds: number): void {
    this.#lastTurn = milliseconds;
    this.#used += milliseconds;
  }

  /** Milliseconds in all turns that are over. */
  get used(): number {
    return this.#used;
  }

  /** The limit that the last turn has exceeded. */
  get exceeded(): LimitName | undefined {
    if (this.#used > this.#cpuMs) return 'cpuMs';
    return this.#lastTurn > this.#activationMs ? 'activationMs' : undefined;
  }

  /** What a turn may use that is done again: it is measured anew, and was within its limits before. */
  get limitAgain(): TimeLimit {
    return { milliseconds: 2 * this.#activationMs, name: 'activationMs' };
  }

  /** What the turn that begins now may use. */
  get limit(): TimeLimit {
    const left = Math.ceil(this.#cpuMs - this.#used);
    return {
      milliseconds: Math.max(1, Math.min(this.#activationMs, left)),
      name: left < this.#activationMs ? 'cpuMs' : 'activationMs',
    };
  }
}
