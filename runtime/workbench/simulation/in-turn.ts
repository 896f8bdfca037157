/** Work that is done one after the other, in the order in which it came. */
export class InTurn {
  #last: Promise<unknown> | undefined;

  /**
   * Begins at once when nothing is before it.
   * @param signal whatever ends it while it waits for its turn
   */
  async next<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const done = Promise.withResolvers<void>();
    this.#last = done.promise;
    try {
      if (before) await unlessAborted(before, signal);
      return await work();
    } finally {
      // Whoever gives up before its turn keeps the place of those before it.
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
