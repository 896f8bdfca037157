/** Retired workers. */
import type { Worker } from './worker.ts';

/** Workers that accept no new runs, until they have ended. */
export class Retired {
  readonly #drainMs: number;
  /** Timers that end damaged workers; other workers continue until their runs end. */
  readonly #workers = new Map<Worker, NodeJS.Timeout | undefined>();

  /** @param drainMs milliseconds that other runs of a damaged worker may continue */
  constructor(drainMs: number) {
    this.#drainMs = drainMs;
  }

  [Symbol.iterator](): Iterator<Worker> {
    return this.#workers.keys();
  }

  get size(): number {
    return this.#workers.size;
  }

  /** A script may have damaged state of other runs. */
  addDamaged(worker: Worker): void {
    if (this.#workers.get(worker)) return;
    this.#workers.set(worker, setTimeout(() => worker.process.kill(), this.#drainMs).unref());
    worker.retire();
  }

  /** Replaced by another worker without having been damaged. */
  addReplaced(worker: Worker): void {
    this.#workers.set(worker, undefined);
    worker.retire();
  }

  isReplaced(worker: Worker): boolean {
    return this.#workers.has(worker) && this.#workers.get(worker) === undefined;
  }

  /** The worker has ended. */
  delete(worker: Worker): void {
    clearTimeout(this.#workers.get(worker));
    this.#workers.delete(worker);
  }

  close(): void {
    for (const [worker, timer] of this.#workers) {
      clearTimeout(timer);
      worker.process.kill();
    }
  }
}
