/** Probes the database for `/healthz`. */
import { sql } from './sql.ts';
import type { Storage } from './storage.ts';

/** `slow`: no answer within the limit, but no connection error either. */
export type DatabaseState = 'ok' | 'slow' | 'unavailable';

const LIMIT_MS = 1000;

/**
 * Makes the probe. Concurrent callers share one query, so that a hanging database is not queried repeatedly.
 *
 * @param limitMs milliseconds after which the result is `slow`
 */
export function databaseState(storage: Pick<Storage, 'run'>, limitMs = LIMIT_MS): () => Promise<DatabaseState> {
  let asked: Promise<DatabaseState> | undefined;
  const ask = async (): Promise<DatabaseState> => {
    try {
      await storage.run(sql`select 1`.statement());
      return 'ok';
    } catch {
      // The pool has logged the reason.
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
