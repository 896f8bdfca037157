/**
 * A door of its own for the start of a node: it locks the data directory and starts PGlite's thread, and loads little. The other
 * door, with kysely and the migrations, loads meanwhile.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StorageUnavailableError } from './errors.ts';
import { type DirectoryLock, lockDirectory } from './lock.ts';
import { ensureCluster, templateFile, unpacking } from './pglite/cluster.ts';
import { PgliteEngine } from './pglite/engine.ts';
import type { Unpacking } from './pglite/protocol.ts';
import { MAINTENANCE_TIMEOUT_MS, silent, type StorageLog, type StorageOptions } from './storage.ts';

/** A PGlite database before its migrations. Whoever takes it closes the engine and releases the lock. */
export interface BegunPglite {
  /** Folder of the cluster. */
  readonly directory: string;
  readonly lock: DirectoryLock;
  readonly engine: PgliteEngine;
}

/**
 * Opens the cluster in the data directory; a missing one is made.
 * @throws StorageLockedError when a live process holds the data directory
 * @throws StorageUnavailableError when the folder cannot be used
 */
export async function beginPglite(options: StorageOptions): Promise<BegunPglite> {
  const { log = silent } = options;
  const directory = join(resolve(options.dataDir), 'pglite');
  const lock = await lockDataDir(options.dataDir);
  try {
    return { directory, lock, engine: await openEngine(directory, options.template, log) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Takes the data directory, which is made when it is missing: one with PGlite, and on PostgreSQL the journals of live calls, belong to
 * one node.
 * @throws StorageLockedError when a live process holds it
 * @throws StorageUnavailableError when the folder cannot be used
 */
export async function lockDataDir(dataDir: string): Promise<DirectoryLock> {
  const folder = resolve(dataDir);
  makeFolder(folder);
  return await lockDirectory(folder);
}

async function openEngine(
  directory: string,
  given: StorageOptions['template'],
  log: StorageLog,
): Promise<PgliteEngine> {
  const open = async (template?: Unpacking): Promise<PgliteEngine> => {
    const engine = new PgliteEngine({ directory, template, queryTimeoutMs: MAINTENANCE_TIMEOUT_MS, log });
    await engine.life();
    return engine;
  };
  if (existsSync(directory)) return await open();
  const template = given === undefined ? templateFile() : (given ?? undefined);
  const unpacked = unpacking(directory, template);
  if (unpacked !== undefined) {
    try {
      return await open(unpacked);
    } catch (err) {
      if (existsSync(directory)) throw err;
      log.warn({ err }, 'the prepared database cannot be used and is made again');
    }
  }
  await ensureCluster(directory, template, log);
  return await open();
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new StorageUnavailableError(`The data directory ${folder} cannot be made: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
