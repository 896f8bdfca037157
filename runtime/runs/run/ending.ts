import type { Clock } from '../clock.ts';

/** Abandoned work that is still in progress. */
export class Ending {
  readonly #work = new Set<Promise<unknown>>();

  add(work: Promise<unknown>): void {
    this.#work.add(work);
    const ended = (): unknown => this.#work.delete(work);
    work.then(ended, ended);
  }

  /** Settles after the end of all work; never rejects. */
  async all(): Promise<void> {
    await Promise.allSettled(this.#work);
  }

  /** Waits for the end of all work; never rejects. */
  async over(clock: Clock, longestMs: number): Promise<void> {
    if (this.#work.size === 0) return;
    const ended = new AbortController();
    const longest = clock.sleep(longestMs, ended.signal).catch(() => undefined);
    await Promise.race([this.all(), longest]);
    ended.abort();
  }
}
