import { FULL, LITTLE, MUCH, type Use } from './use.ts';

/** Looks in a row at which scripts get next to nothing: others may use all processors for a moment. */
const LOOKS_TO_BEGIN = 3;
/** Looks, taken together, at which others leave something again, or scripts get most of it. */
const LOOKS_TO_END = 20;

/** Notices that others keep all processors busy, so that scripts behind everything else would get next to nothing. */
export class Starvation {
  readonly #processors: number;
  /** Of those, what scripts may use beside calls. */
  readonly #left: number;
  #starved = false;
  #looks = 0;
  #used = 0;
  #idle = 0;

  /** @param processors how many there are */
  constructor(processors: number) {
    this.#processors = processors;
    this.#left = Math.max(processors - 1, 1);
  }

  /** @returns whether scripts are to get their share */
  look(use: Use): boolean {
    if (this.#starved) this.#mayEnd(use);
    else this.#mayBegin(use);
    return this.#starved;
  }

  #mayBegin({ used, idle }: Use): void {
    const gets = used >= this.#left * LITTLE || idle >= this.#processors * FULL;
    this.#looks = gets ? 0 : this.#looks + 1;
    if (this.#looks === LOOKS_TO_BEGIN) this.#turn(true);
  }

  #mayEnd({ used, idle }: Use): void {
    this.#looks += 1;
    this.#used += used;
    this.#idle += idle;
    if (this.#looks < LOOKS_TO_END) return;
    const isFull = this.#idle < this.#processors * FULL * LOOKS_TO_END;
    this.#turn(isFull && this.#used < this.#left * MUCH * LOOKS_TO_END);
  }

  #turn(starved: boolean): void {
    this.#starved = starved;
    this.#looks = 0;
    this.#used = 0;
    this.#idle = 0;
  }
}
