/** The virtual clock of simulations. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Clock } from '../../runs/index.ts';

/** Limit of a simulation, in milliseconds: an endless one fails. */
const LONGEST_MS = 48 * 3_600_000;

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * A clock that moves only when all work sleeps: `run` wakes the next sleeper after all other work. An hour of waiting takes
 * no time, and the order of events is deterministic.
 */
export class VirtualClock implements Clock {
  readonly #sleepers = new Set<Sleeper>();
  #now: number;
  #busy = 0;

  /** @param start milliseconds since the epoch */
  constructor(start = 0) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal.aborted) {
      reject(signal.reason);
      return promise;
    }
    const abort = (): void => {
      this.#sleepers.delete(sleeper);
      reject(signal.reason);
    };
    const sleeper: Sleeper = {
      at: this.#now + Math.max(0, milliseconds),
      wake: () => {
        signal.removeEventListener('abort', abort);
        resolve();
      },
    };
    this.#sleepers.add(sleeper);
    signal.addEventListener('abort', abort, { once: true });
    return promise;
  }

  /** Stands still during real work (a script, a file). */
  async busy<T>(work: Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await work;
    } finally {
      this.#busy -= 1;
    }
  }

  /**
   * Lets time pass until the promise settles.
   * @throws Error after two days; and when nothing sleeps and the promise still does not settle, because its event never comes
   */
  async run<T>(promise: Promise<T>): Promise<T> {
    const start = this.#now;
    let settled = false;
    const settling = Promise.allSettled([promise]).then(() => {
      settled = true;
    });
    let idle = 0;
    while (!settled) {
      await setImmediate();
      if (settled) break;
      if (this.#busy > 0) {
        // Avoids spinning while another process works.
        await setTimeout(1);
        continue;
      }
      if (this.#now - start > LONGEST_MS) throw new Error('the simulation has not ended after two days');
      idle = this.#wakeNext() ? 0 : idle + 1;
      // Unannounced real I/O (a file, a check) may be in progress; a simulation does little of it.
      if (idle > 1000) throw new Error('the simulation waits for something that never comes');
    }
    await settling;
    return promise;
  }

  #wakeNext(): boolean {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) if (!next || sleeper.at < next.at) next = sleeper;
    if (!next) return false;
    this.#sleepers.delete(next);
    this.#now = next.at;
    next.wake();
    return true;
  }
}
