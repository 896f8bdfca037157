import type { Worker } from './worker.ts';

/** Workers that take no new runs, until they are gone. */
export class Retired {
  readonly #drainMs: number;
  /** What ends those that a script has harmed, in time; the others have as long as their runs take. */
  readonly #workers = new Map<Worker, NodeJS.Timeout | undefined>();

  /** @param drainMs milliseconds for which the other runs of a worker that was harmed may go on */
  constructor(drainMs: number) {
    this.#drainMs = drainMs;
  }

  [Symbol.iterator](): Iterator<Worker> {
    return this.#workers.keys();
  }

  get size(): number {
    return this.#workers.size;
  }

  /** A script may have harmed what its other runs need. */
  addHarmed(worker: Worker): void {
    if (this.#workers.get(worker)) return;
    this.#workers.set(worker, setTimeout(() => worker.process.kill(), this.#drainMs).unref());
    worker.retire();
  }

  /** Another worker has taken its place, and nothing is wrong with it. */
  addReplaced(worker: Worker): void {
    this.#workers.set(worker, undefined);
    worker.retire();
  }

  isReplaced(worker: Worker): boolean {
    return this.#workers.has(worker) && this.#workers.get(worker) === undefined;
  }

  /** It is gone. */
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
