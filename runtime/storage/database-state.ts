/** Whether the database answers, for `/healthz`. */
import { sql } from './sql.ts';
import type { Storage } from './storage.ts';

/** `slow`: no answer within the limit, though nothing says that it is gone. */
export type DatabaseState = 'ok' | 'slow' | 'unavailable';

const LIMIT_MS = 1000;

/**
 * Makes the function that asks the database for a sign of life. Callers that ask at the same time share one question, so
 * that a database that hangs is not asked again and again.
 *
 * @param limitMs milliseconds after which the answer is `slow`
 */
export function databaseState(storage: Pick<Storage, 'run'>, limitMs = LIMIT_MS): () => Promise<DatabaseState> {
  let asked: Promise<DatabaseState> | undefined;
  const ask = async (): Promise<DatabaseState> => {
    try {
      await storage.run(sql`select 1`.statement());
      return 'ok';
    } catch {
      // The pool has logged why.
      return 'unavailable';
    } finally {
      asked = undefined;
    }
  };
  return async () => {
    asked ??= ask();
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<DatabaseState>((resolve) => {
      timer = setTimeout(() => resolve('slow'), limitMs);
    });
    try {
      return await Promise.race([asked, limit]);
    } finally {
      clearTimeout(timer);
    }
  };
}
