/** Frees the memory of completed transactions. */
import type { Timers } from './timers.ts';

/** Interval of the sweep, ms. By then the user has handled the final response, and no longer needs the request. */
const SWEEP_MS = 1000;

/** A transaction that has its final response. */
export interface CompletedTransaction {
  freeMemory(): void;
}

/**
 * Frees the messages of transactions that have their final response. Such a transaction stays up to 32 s longer to
 * answer retransmissions (timers D, I, J, L, M). At 25 calls a second and ten transactions a call, it would keep
 * thousands of messages in memory.
 */
export class CompletedTransactions {
  readonly #timers: Timers;
  /** Transactions added since the last sweep. */
  #fresh: CompletedTransaction[] = [];
  /** Transactions added before the last sweep: the next one frees their messages. */
  #settled: CompletedTransaction[] = [];
  #running = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Calls `freeMemory` of the transaction after one to two seconds. */
  add(ended: CompletedTransaction): void {
    this.#fresh.push(ended);
    if (!this.#running) this.#run();
  }

  #run(): void {
    this.#running = true;
    this.#timers.set(SWEEP_MS, () => {
      for (const each of this.#settled) each.freeMemory();
      this.#settled = this.#fresh;
      this.#fresh = [];
      this.#running = this.#settled.length > 0;
      if (this.#running) this.#run();
    });
  }
}
