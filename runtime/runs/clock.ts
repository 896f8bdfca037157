/** The clock of a run: the machine's, or a virtual one in a simulation. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `milliseconds`; rejects with the signal's reason when it aborts first. Leaves no timer behind. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Set for a virtual clock: stops it while real work is in progress. */
  busy?<T>(work: Promise<T>): Promise<T>;
}

/** Real work, during which a virtual clock stands still. */
export function busy<T>(clock: Clock, work: Promise<T>): Promise<T> {
  return clock.busy ? clock.busy(work) : work;
}

/** The time of a virtual clock, for scripts. */
export function scriptTime(clock: Clock): { readonly clock?: () => number } {
  return clock.busy ? { clock: () => clock.now() } : {};
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal.aborted) {
      reject(signal.reason);
      return promise;
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    function abort(): void {
      clearTimeout(timer);
      reject(signal.reason);
    }
    signal.addEventListener('abort', abort, { once: true });
    return promise;
  },
};
