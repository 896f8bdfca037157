/**
 * Work on a class that may change meanwhile, here or on another node. What was begun by a former definition fails as a
 * whole: it is done again by the present one.
 */
import { SqlError, SQLSTATE } from '../storage/index.ts';
import { ClassChangingError, StaleClassError } from './errors.ts';

/** Each try takes the class as it is: more are needed only when it changes again and again. */
const TRIES = 5;
const OUTDATED: readonly string[] = [SQLSTATE.undefinedTable, SQLSTATE.deadlockDetected];

/**
 * @param act reads the class anew each time it is called; what it throws has undone what it did
 * @param refresh reads the classes anew
 * @throws ClassChangingError, and whatever `act` throws for another reason
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

/** A deadlock is no change of the class, but ends the same way: one side was undone, and can try again. */
function isOutdated(error: unknown): boolean {
  if (error instanceof StaleClassError) return true;
  return error instanceof SqlError && OUTDATED.includes(error.code);
}
