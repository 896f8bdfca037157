/** Runs tests again when their files change. */
import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** Files of scenarios and tests, and what these read. */
const READ = /\.(?:ya?ml|ts|js|json|wav)$/;
/** Milliseconds without a change before the tests run: editors write a file in several steps. */
const SETTLED_MS = 100;
/** A folder that may be large, and has no scenarios. */
const MODULES = 'node_modules';

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
  const watchers = new Map<string, FSWatcher>();
  const folders = new Set(await Promise.all(targets.map(folderOf)));
  /** Watches folders that are new, and forgets those that are gone. */
  const follow = async (): Promise<void> => {
    const found = new Set((await Promise.all([...folders].map(foldersBelow))).flat());
    for (const [folder, watcher] of watchers) {
      if (found.has(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const folder of found) if (!watchers.has(folder)) watchers.set(folder, changes.of(folder));
  };
  try {
    await follow();
    signal.addEventListener('abort', () => changes.end(), { once: true });
    if (signal.aborted) changes.end();
    let code = await run();
    // The end may come during a run.
    while (!signal.aborted && (await changes.next())) {
      await follow();
      code = await run();
    }
    return code;
  } finally {
    for (const watcher of watchers.values()) watcher.close();
    changes.end();
  }
}

/** A folder and all below it. Node's own recursive watch loses a file that an editor replaces by another (Node 24, Linux). */
async function foldersBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const below = entries
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  return [folder, ...below].filter((each) => !path.relative(folder, each).split(path.sep).includes(MODULES));
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

  /** Begins to watch the files of a folder. */
  of(folder: string): FSWatcher {
    const watcher = watch(folder, (_, name) => this.#noticed(name));
    // The folder is gone, and its parent tells so.
    watcher.on('error', () => watcher.close());
    return watcher;
  }

  /** A name without an ending may be a folder. */
  #noticed(name: string | null): void {
    if (name !== null && path.extname(name) !== '' && !READ.test(name)) return;
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
