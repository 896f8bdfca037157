import type { Timers } from './timers.ts';

/** Interval of the sweep, ms. By then the user has handled the final response, and no longer needs the request. */
const SWEEP_MS = 1000;

/** An object that can drop memory some time after its end. */
export interface Shedding {
  shed(): void;
}

/**
 * Frees the messages of transactions that have their final response. Such a transaction stays up to 32 s longer to
 * answer retransmissions (timers D, I, J, L, M). At 25 calls a second and ten transactions a call, it would keep
 * thousands of messages in memory.
 */
export class Afterlife {
  readonly #timers: Timers;
  /** Transactions added since the last sweep. */
  #fresh: Shedding[] = [];
  /** Transactions added before the last sweep: the next one frees their messages. */
  #settled: Shedding[] = [];
  #running = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Calls `shed` of the transaction after one to two seconds. */
  add(ended: Shedding): void {
    this.#fresh.push(ended);
    if (!this.#running) this.#run();
  }

  #run(): void {
    this.#running = true;
    this.#timers.set(SWEEP_MS, () => {
      for (const each of this.#settled) each.shed();
      this.#settled = this.#fresh;
      this.#fresh = [];
      this.#running = this.#settled.length > 0;
      if (this.#running) this.#run();
    });
  }
}
