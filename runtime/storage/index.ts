/**
 * Storage: one PostgreSQL dialect over PGlite (default) or a PostgreSQL server.
 *
 * Order in which the composition root opens the data rooms:
 *
 * 1. `storage = await openStorage({ dataDir, databaseUrl, log })` opens, locks, migrates;
 * 2. `if (await isEmpty(storage) && everyListenerIsLoopback) await createDemoData(storage)`;
 * 3. `directory = await openDirectory(storage)`, `location = await openLocation(storage, directory)`;
 * 4. `iam = await createIam(storage, directory, { allowList })`;
 * 5. at the stop, in reverse: `iam.close()`, `location.close()`, `storage.close()`.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Kysely, sql } from 'kysely';
import { StorageUnavailableError } from './errors.ts';
import { lockDirectory } from './lock.ts';
import { startMaintenance } from './maintenance.ts';
import { NO_NOTICES } from './notices.ts';
import { MAINTENANCE_TIMEOUT_MS, migrateOrEnd } from './migrate-or-end.ts';
import { once } from './once.ts';
import { ensureCluster, templateFolder } from './pglite/cluster.ts';
import { pgliteDialect } from './pglite/dialect.ts';
import { PgliteEngine } from './pglite/engine.ts';
import type { Schema } from './schema.ts';
import { QUERY_TIMEOUT_MS, type Storage, type StorageLog, type StorageOptions } from './storage.ts';

export { type DatabaseState, databaseState } from './database-state.ts';
export * from './errors.ts';
export type { ChangeNotices, NoticeListener, NoticePayload } from './notices.ts';
export type { RecordingsTable, Schema } from './schema.ts';
export { Fragment, sql, type Statement } from './sql.ts';
export type { Storage, StorageLog, StorageOptions, TextRow } from './storage.ts';
export {
  BlobTooLargeError,
  type ByteRange,
  checkFileStore,
  FileMissingError,
  type FileStore,
  FileStoreError,
  FolderFiles,
  openFiles,
  type ReceivedBlob,
  S3Bucket,
  s3Location,
} from './files/index.ts';

const silent: StorageLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/**
 * Opens the node's database and applies all migrations.
 *
 * @throws StorageLockedError when a live process holds the data directory
 * @throws StorageUnavailableError when the folder or the server cannot be used
 * @throws StorageMigrationError when a migration fails
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { databaseUrl, log = silent } = options;
  const started = performance.now();
  const storage =
    databaseUrl === undefined
      ? await openPglite(options)
      : // With PGlite the driver is never loaded.
        await (await import('./postgres/open-server.ts')).openServer({ ...options, log, databaseUrl });
  const milliseconds = Math.round(performance.now() - started);
  log.info({ kind: storage.kind, location: storage.location, milliseconds }, 'database open');
  return storage;
}

async function openPglite(options: StorageOptions): Promise<Storage> {
  const { log = silent, queryTimeoutMs = QUERY_TIMEOUT_MS } = options;
  const dataDir = resolve(options.dataDir);
  const directory = join(dataDir, 'pglite');
  makeFolder(dataDir);
  const lock = await lockDirectory(dataDir);
  try {
    const template = options.templateFolder === undefined ? templateFolder() : options.templateFolder;
    await ensureCluster(directory, template ?? undefined, log);
    const engine = new PgliteEngine({ directory, queryTimeoutMs: MAINTENANCE_TIMEOUT_MS, log });
    const db = new Kysely<Schema>({ dialect: pgliteDialect(engine) });
    await migrateOrEnd(db, log);
    engine.queryTimeoutMs = queryTimeoutMs;
    const maintenance = startMaintenance(db, log);
    const close = once(async () => {
      try {
        await maintenance.stop();
        engine.queryTimeoutMs = MAINTENANCE_TIMEOUT_MS;
        await sql`checkpoint`.execute(db);
      } finally {
        await db.destroy();
        lock.release();
      }
    });
    return {
      kind: 'pglite',
      db,
      run: (statement) => engine.run(statement),
      location: directory,
      log,
      notices: NO_NOTICES,
      pool: () => engine.pool(),
      close,
    };
  } catch (error) {
    lock.release();
    throw error;
  }
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
