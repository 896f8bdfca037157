import type { WorkerOptions } from './worker-process.ts';
import { Worker, type WorkerListener } from './worker.ts';

/** Milliseconds before the second restart in a row; each further one waits twice as long, up to the longest. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 5000;
/** A worker that lived so many milliseconds was no failure. */
const GOOD_LIFE_MS = 30_000;

/**
 * What counts as a failure: with `death` every short life does, for programs known to kill; with `birth` only workers that
 * never became ready do, for whatever killed another is kept away from the next.
 */
export type FailureKind = 'death' | 'birth';

/** A place in the pool, in which one worker after the other lives. */
export class Slot {
  readonly #options: WorkerOptions;
  readonly #listener: WorkerListener;
  readonly #failure: FailureKind;
  #worker: Worker | undefined;
  /** It takes the place of the worker when it is ready. */
  #successor: Worker | undefined;
  #born = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: WorkerOptions, listener: WorkerListener, failure: FailureKind) {
    this.#options = options;
    this.#failure = failure;
    this.#listener = listener;
  }

  get worker(): Worker | undefined {
    return this.#worker;
  }

  /** Those that are here, or about to be. */
  get workers(): readonly Worker[] {
    return [this.#worker, this.#successor].filter((worker) => worker !== undefined);
  }

  /** Starts a worker unless there is one, or one is about to be started. */
  start(): void {
    if (this.#closed || this.#worker || this.#timer) return;
    this.#born = performance.now();
    this.#worker = new Worker(this.#options, this.#listener);
  }

  /** Starts another worker to succeed its own, which goes on until `succeed`. */
  renew(): void {
    if (this.#closed || !this.#worker) return;
    this.#successor ??= new Worker(this.#options, this.#listener);
  }

  /** A worker is ready. @returns the one whose place it takes */
  succeed(worker: Worker): Worker | undefined {
    if (worker !== this.#successor) return undefined;
    const old = this.#worker;
    this.#worker = worker;
    this.#successor = undefined;
    this.#born = performance.now();
    return old;
  }

  /** Its worker is of no more use: another takes its place, the later the more often that happens. */
  vacate(worker: Worker): void {
    if (worker === this.#successor) this.#successor = undefined;
    if (worker !== this.#worker) return;
    this.#worker = this.#successor;
    this.#successor = undefined;
    if (this.#worker) return;
    const harmless = this.#failure === 'birth' && worker.wasReady;
    this.#failures = harmless || performance.now() - this.#born > GOOD_LIFE_MS ? 0 : this.#failures + 1;
    const wait = this.#failures < 2 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (this.#failures - 2), LONGEST_WAIT_MS);
    if (this.#closed) return;
    if (wait === 0) return this.start();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.start();
    }, wait);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const worker of this.workers) worker.process.kill();
  }
}
