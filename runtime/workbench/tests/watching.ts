/** Runs tests again when their files change. */
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';

/** Files of scenarios and tests, and what these read. */
const READ = /\.(?:ya?ml|ts|js|json|wav)$/;
/** Milliseconds without a change before the tests run: editors write a file in several steps. */
const SETTLED_MS = 100;

/**
 * Runs at once, and again after each change below the targets, until the signal aborts; never concurrently.
 * @param targets files and folders; of a file, its folder is watched
 * @param run runs the tests and returns an exit code
 * @returns the exit code of the last run
 * @throws TypeError for a missing target
 */
export async function runWatching(
  targets: readonly string[],
  run: () => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  const changes = new Changes();
  const watchers: FSWatcher[] = [];
  try {
    for (const folder of new Set(await Promise.all(targets.map(folderOf))))
      watchers.push(watch(folder, { recursive: true }, (_, name) => changes.noticed(name)));
    signal.addEventListener('abort', () => changes.end(), { once: true });
    if (signal.aborted) changes.end();
    let code = await run();
    // The end may come during a run.
    while (!signal.aborted && (await changes.next())) code = await run();
    return code;
  } finally {
    for (const watcher of watchers) watcher.close();
    changes.end();
  }
}

async function folderOf(target: string): Promise<string> {
  const found = await stat(target).catch(() => undefined);
  if (found === undefined) throw new TypeError(`${target} cannot be watched: there is no such file or folder`);
  return found.isDirectory() ? target : path.dirname(target);
}

/** Changes since the last run. */
class Changes {
  #timer: NodeJS.Timeout | undefined;
  #ended = false;
  #waiting = Promise.withResolvers<boolean>();

  noticed(name: string | null): void {
    if (name !== null && (!READ.test(name) || name.split(path.sep).includes('node_modules'))) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#waiting.resolve(true), SETTLED_MS);
  }

  /** Resolves with true after changes, also those during the last run; false after the end. */
  async next(): Promise<boolean> {
    const changed = await this.#waiting.promise;
    this.#waiting = Promise.withResolvers<boolean>();
    return changed && !this.#ended;
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#waiting.resolve(false);
  }
}
