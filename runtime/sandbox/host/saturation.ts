/** Detects scripts that use all processors. */
import { FULL, LITTLE, MUCH, type Use } from './use.ts';

/** Share of the remaining processors from which scripts contribute to the saturation. */
const SOME = 0.5;
/** Number of consecutive checks with saturation: starting and compiling may use all processors briefly. */
const LOOKS_TO_BEGIN = 3;
/** Idle share of the remaining processors at which scripts do not need the others. */
const UNUSED = 0.2;
/** Number of checks in total with that idle share, or with others using the processors. */
const LOOKS_TO_END = 20;

/** Detects when scripts would use every processor, alone or together with others. */
export class Saturation {
  readonly #processors: number;
  #saturated = false;
  #looks = 0;
  #used = 0;
  #idleOfLeft = 0;

  /** @param processors number of processors, at least two */
  constructor(processors: number) {
    this.#processors = processors;
  }

  /** @returns true when scripts should leave one processor free */
  look(use: Use): boolean {
    if (this.#saturated) this.#mayEnd(use);
    else this.#mayBegin(use);
    return this.#saturated;
  }

  #mayBegin({ used, idle }: Use): void {
    const isFull = idle < this.#processors * FULL && used > (this.#processors - 1) * SOME;
    this.#looks = used > this.#processors * MUCH || isFull ? this.#looks + 1 : 0;
    if (this.#looks === LOOKS_TO_BEGIN) this.#turn(true);
  }

  #mayEnd({ used, idleOfLeft }: Use): void {
    this.#looks += 1;
    this.#used += used;
    this.#idleOfLeft += idleOfLeft;
    if (this.#looks < LOOKS_TO_END) return;
    const left = (this.#processors - 1) * LOOKS_TO_END;
    this.#turn(this.#idleOfLeft <= left * UNUSED && this.#used >= left * LITTLE);
  }

  #turn(saturated: boolean): void {
    this.#saturated = saturated;
    this.#looks = 0;
    this.#used = 0;
    this.#idleOfLeft = 0;
  }
}
