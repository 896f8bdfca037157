import type { Run } from './run.ts';

/** Live runs by id, for messages between runs. */
export class RunBook {
  readonly #runs = new Map<string, Run>();

  get size(): number {
    return this.#runs.size;
  }

  /** Keeps the run until its end. */
  add(run: Run): void {
    this.#runs.set(run.id, run);
    void run.finished.then(() => this.#runs.delete(run.id));
  }

  get(id: string): Run | undefined {
    return this.#runs.get(id);
  }

  runs(): readonly Run[] {
    return [...this.#runs.values()];
  }
}
