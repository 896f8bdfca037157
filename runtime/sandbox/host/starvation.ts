/** Detects starved scripts. */
import { FULL, LITTLE, MUCH, type Use } from './use.ts';

/** Number of consecutive checks with almost no time for scripts: others may use all processors briefly. */
const LOOKS_TO_BEGIN = 3;
/** Number of checks in total with idle time again, or with scripts getting most of it. */
const LOOKS_TO_END = 20;

/**
 * Detects when other programs keep all processors busy, so that scripts with the lowest priority would get almost no
 * time.
 */
export class Starvation {
  readonly #processors: number;
  /** The number available to scripts besides calls. */
  readonly #left: number;
  #starved = false;
  #looks = 0;
  #used = 0;
  #idle = 0;

  /** @param processors number of processors */
  constructor(processors: number) {
    this.#processors = processors;
    this.#left = Math.max(processors - 1, 1);
  }

  /** @returns true when scripts should get their share */
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
