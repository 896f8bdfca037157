import { FULL, LITTLE, MUCH, type Use } from './use.ts';

/** Share of those that would be left to them from which on scripts are among the reasons why none is idle. */
const SOME = 0.5;
/** Looks in a row at which that is so: what starts, and is compiled, may use them all for a moment. */
const LOOKS_TO_BEGIN = 3;
/** Share of the processors that are left to them which scripts do not use: they do not need the others. */
const UNUSED = 0.2;
/** Looks, taken together, at which that is so, or others use those up. */
const LOOKS_TO_END = 20;

/** Notices that scripts are about to use every processor there is, alone or beside others. */
export class Saturation {
  readonly #processors: number;
  #saturated = false;
  #looks = 0;
  #used = 0;
  #idleOfLeft = 0;

  /** @param processors how many there are, two at least */
  constructor(processors: number) {
    this.#processors = processors;
  }

  /** @returns whether scripts are to leave one */
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
