/**
 * The work's outcome, or the signal's reason if that comes first. The work itself goes on; its late failure is the
 * business of whoever aborted.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const aborted = () => reject(signal.reason as Error);
    if (signal.aborted) {
      work.catch(() => undefined);
      aborted();
      return;
    }
    signal.addEventListener('abort', aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
