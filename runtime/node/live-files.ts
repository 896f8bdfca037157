/** What files hold: read and checked at the start, and again when one changes. */
import { unwatchFile, watchFile } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { ConfigError } from '../config/index.ts';

/** Interval at which the files are looked at, ms: notices of the system are lost for links and network drives. */
const WATCH_MS = 1000;

/** A value of files, as it is now. */
export interface Live<Value> {
  readonly current: Value;
  /** Calls back with each later value. */
  onChange(listener: (value: Value) => void): void;
  close(): void;
}

/**
 * Reads files and watches them. Changed ones that cannot be used are logged, and the old value stays.
 * @param name of the value, in the log
 * @param readAll rejects with a ConfigError for a value that cannot be used
 * @throws ConfigError which names the setting
 */
export async function openLive<Value>(
  name: string,
  files: readonly string[],
  readAll: () => Promise<Value>,
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
): Promise<Live<Value>> {
  let current = await readAll();
  const listeners = new Set<(value: Value) => void>();
  let reading = Promise.resolve();
  const reload = async (): Promise<void> => {
    try {
      const next = await readAll();
      if (isDeepStrictEqual(next, current)) return;
      current = next;
      log.info({ file: files[0] }, `the changed ${name} is in use`);
      for (const listener of listeners) listener(next);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      log.warn({ reason: error.message }, `the changed ${name} cannot be used, the old one stays`);
    }
  };
  const changed = (): void => {
    reading = reading.then(reload).catch((err: unknown) => log.error({ err }, `reading the ${name} failed`));
  };
  for (const file of files) watchFile(file, { interval: WATCH_MS, persistent: false }, changed);
  return {
    get current() {
      return current;
    },
    onChange: (listener) => void listeners.add(listener),
    close: () => {
      for (const file of files) unwatchFile(file, changed);
    },
  };
}
