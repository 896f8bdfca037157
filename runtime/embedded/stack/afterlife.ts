import type { Timers } from './timers.ts';

/** Milliseconds after which whoever was told of a final response has made of the request what it wanted. */
const MOMENT_MS = 1000;

/** What can do with less memory from a moment after its end on. */
export interface Shedding {
  shed(): void;
}

/**
 * Transactions that have their final response. They stay for up to 32 s more, for retransmissions alone (timers D, I, J, L and
 * M): at 25 calls a second, with some ten transactions a call, thousands of whole messages.
 */
export class Afterlife {
  readonly #timers: Timers;
  /** Those of this moment, and of the one before. */
  #fresh: Shedding[] = [];
  #settled: Shedding[] = [];
  #running = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Has it shed what it does not need, one to two moments from now. */
  add(ended: Shedding): void {
    this.#fresh.push(ended);
    if (!this.#running) this.#run();
  }

  #run(): void {
    this.#running = true;
    this.#timers.set(MOMENT_MS, () => {
      for (const each of this.#settled) each.shed();
      this.#settled = this.#fresh;
      this.#fresh = [];
      this.#running = this.#settled.length > 0;
      if (this.#running) this.#run();
    });
  }
}
