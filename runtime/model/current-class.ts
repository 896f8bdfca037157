/**
 * Repeats work on a class whose definition changed meanwhile, here or on another node. Work with an outdated definition
 * fails as a whole and is repeated with the current one.
 */
import { SqlError, SQLSTATE } from '../storage/index.ts';
import { ClassChangingError, StaleClassError } from './errors.ts';

/** A repetition reads the newest class; more are needed only when the class changes again. */
const TRIES = 5;
const OUTDATED: readonly string[] = [SQLSTATE.undefinedTable, SQLSTATE.deadlockDetected];

/**
 * @param act reads the class at each call; when it throws, it has undone its effects
 * @param refresh reloads the classes
 * @throws ClassChangingError, and other errors of `act`
 */
export async function withCurrentClass<T>(act: () => Promise<T>, refresh: () => Promise<void>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      if (!isOutdated(error)) throw error;
      if (tries === TRIES) throw new ClassChangingError({ cause: error });
      await refresh();
    }
  }
}

/** A deadlock is no class change, but is handled alike: one side was rolled back and can try again. */
function isOutdated(error: unknown): boolean {
  if (error instanceof StaleClassError) return true;
  return error instanceof SqlError && OUTDATED.includes(error.code);
}
