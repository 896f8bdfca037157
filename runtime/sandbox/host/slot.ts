import type { WorkerOptions } from './worker-process.ts';
import { Worker, type WorkerListener } from './worker.ts';

/** Milliseconds before the second restart in a row; each further one waits twice as long, up to the longest. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 5000;
/** A worker that lived so many milliseconds was no failure. */
const GOOD_LIFE_MS = 30_000;

/** A place in the pool, in which one worker after the other lives. */
export class Slot {
  readonly #options: WorkerOptions;
  readonly #listener: WorkerListener;
  #worker: Worker | undefined;
  #born = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: WorkerOptions, listener: WorkerListener) {
    this.#options = options;
    this.#listener = listener;
  }

  get worker(): Worker | undefined {
    return this.#worker;
  }

  /** Starts a worker unless there is one, or one is about to be started. */
  start(): void {
    if (this.#closed || this.#worker || this.#timer) return;
    this.#born = performance.now();
    this.#worker = new Worker(this.#options, this.#listener);
  }

  /** Its worker is of no more use: another takes its place, the later the more often that happens. */
  vacate(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    if (performance.now() - this.#born > GOOD_LIFE_MS) this.#failures = 0;
    const wait = this.#failures === 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (this.#failures - 1), LONGEST_WAIT_MS);
    this.#failures++;
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.start();
    }, wait);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#worker?.process.kill();
  }
}
