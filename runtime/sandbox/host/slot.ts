/** A place for a worker, which is replaced when it ends. */
import type { WorkerOptions } from './worker-process.ts';
import { Worker, type WorkerListener } from './worker.ts';

/** Milliseconds before the second restart in a row; doubled for each further one, up to the maximum. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 5000;
/** A worker that lived this many milliseconds was not a failure. */
const GOOD_LIFE_MS = 30_000;

/**
 * Kinds of failure. `death`: every short life, for programs known to kill workers. `birth`: only workers that never
 * became ready, because a program that killed one is kept from the next.
 */
export type FailureKind = 'death' | 'birth';

/** A place in the pool for successive workers. */
export class Slot {
  readonly #options: WorkerOptions;
  readonly #listener: WorkerListener;
  readonly #failure: FailureKind;
  #worker: Worker | undefined;
  /** The successor of the worker, once it is ready. */
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

  /** Present and starting workers. */
  get workers(): readonly Worker[] {
    return [this.#worker, this.#successor].filter((worker) => worker !== undefined);
  }

  /** Starts a worker unless one exists or is about to start. */
  start(): void {
    if (this.#closed || this.#worker || this.#timer) return;
    this.#born = performance.now();
    this.#worker = new Worker(this.#options, this.#listener);
  }

  /** Starts a successor of the worker, which continues until `succeed`. */
  renew(): void {
    if (this.#closed || !this.#worker) return;
    this.#successor ??= new Worker(this.#options, this.#listener);
  }

  /** A worker is ready. @returns the worker that it replaces */
  succeed(worker: Worker): Worker | undefined {
    if (worker !== this.#successor) return undefined;
    const old = this.#worker;
    this.#worker = worker;
    this.#successor = undefined;
    this.#born = performance.now();
    return old;
  }

  /** Replaces the worker, with a delay that grows with each failure. */
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
