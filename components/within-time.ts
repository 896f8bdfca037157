import type { ComponentContext } from '../runtime/runs/index.ts';
import { parseDuration } from '../runtime/language/index.ts';

/**
 * Waits for work until a timeout or the end of the block; the work's signal aborts in either case.
 * @param duration in the authors' form
 * @returns undefined after the timeout
 */
export async function withinTime<T>(
  { clock, signal }: Pick<ComponentContext, 'clock' | 'signal'>,
  duration: string,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const late = new AbortController();
  const done = new AbortController();
  const timer = clock.sleep(parseDuration(duration) ?? 0, done.signal).then(
    () => late.abort(new Error('the time is up')),
    () => undefined,
  );
  try {
    return await wait(AbortSignal.any([signal, late.signal]));
  } catch (error) {
    if (late.signal.aborted && !signal.aborted) return undefined;
    throw error;
  } finally {
    done.abort();
    await timer;
  }
}
