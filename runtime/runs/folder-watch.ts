/** Watches scenario folders. */
import { type FSWatcher, watch } from 'node:fs';
import type { Log } from './log.ts';

/** Milliseconds without a change before a folder is read: editors write a file in several steps. */
const SETTLED_MS = 100;

/** Watches a folder for changes; some network file systems report none. */
export class FolderWatch {
  readonly #look: () => Promise<void>;
  readonly #log: Log;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking = Promise.resolve();

  /** @param look called after changes, never concurrently */
  constructor(folder: string, look: () => Promise<void>, log: Log) {
    this.#look = look;
    this.#log = log;
    try {
      this.#watcher = watch(folder, { persistent: false }, () => this.#changed());
      this.#watcher.on('error', (err) => this.#lost(folder, err));
    } catch (error) {
      this.#lost(folder, error);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watcher?.close();
  }

  #changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#looking = this.#looking
        .then(this.#look)
        .catch((err: unknown) => this.#log.error({ err }, 'scenario files could not be read'));
    }, SETTLED_MS);
    this.#timer.unref();
  }

  #lost(folder: string, err: unknown): void {
    this.#watcher?.close();
    this.#log.info({ folder, err }, 'changes of the folder are seen once a minute, and when a scenario is started');
  }
}
