/** A queue of work, done one after the other in the order of arrival. */
export class InTurn {
  #last: Promise<unknown> | undefined;

  /**
   * Starts at once when the queue is empty.
   * @param signal cancels the work while it waits
   */
  async next<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const done = Promise.withResolvers<void>();
    this.#last = done.promise;
    try {
      if (before) await unlessAborted(before, signal);
      return await work();
    } finally {
      // Cancelled work keeps the order of the work before it.
      void Promise.resolve(before).then(() => done.resolve());
      if (this.#last === done.promise && !signal.aborted) this.#last = undefined;
    }
  }
}

async function unlessAborted(before: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([before, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
