import type { Log } from './signalling/link.ts';

/** Milliseconds between two attempts. */
const PAUSE_MS = 1000;

/**
 * Tries until it works, for servers that come up beside this node and need their time.
 * @param patienceMs how long to go on after a failure; 0 tries once
 * @throws the last failure
 */
export async function patiently<T>(what: string, patienceMs: number, log: Log, attempt: () => Promise<T>): Promise<T> {
  const end = Date.now() + patienceMs;
  for (;;) {
    try {
      return await attempt();
    } catch (err) {
      if (Date.now() + PAUSE_MS > end) throw err;
      log.warn({ err: (err as Error).message }, `${what} is not there yet, trying again`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
