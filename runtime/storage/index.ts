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
import { Kysely, sql } from 'kysely';
import { beginPglite, type BegunPglite } from './early.ts';
import { startMaintenance } from './maintenance.ts';
import { NO_NOTICES } from './notices.ts';
import { migrateOrEnd } from './migrate-or-end.ts';
import { once } from './once.ts';
import { pgliteDialect } from './pglite/dialect.ts';
import type { Schema } from './schema.ts';
import { MAINTENANCE_TIMEOUT_MS, QUERY_TIMEOUT_MS, silent, type Storage, type StorageOptions } from './storage.ts';

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

/**
 * Opens the node's database and applies all migrations.
 *
 * @param begun the result of `beginPglite`, for a start that has called it
 * @throws StorageLockedError when a live process holds the data directory
 * @throws StorageUnavailableError when the folder or the server cannot be used
 * @throws StorageMigrationError when a migration fails
 */
export async function openStorage(options: StorageOptions, begun?: Promise<BegunPglite>): Promise<Storage> {
  const { databaseUrl, log = silent } = options;
  const started = performance.now();
  const storage =
    databaseUrl === undefined
      ? await openPglite(options, await (begun ?? beginPglite(options)))
      : // With PGlite the driver is never loaded.
        await (await import('./postgres/open-server.ts')).openServer({ ...options, log, databaseUrl });
  const milliseconds = Math.round(performance.now() - started);
  log.info({ kind: storage.kind, location: storage.location, milliseconds }, 'database open');
  return storage;
}

async function openPglite(options: StorageOptions, { directory, engine, lock }: BegunPglite): Promise<Storage> {
  const { log = silent, queryTimeoutMs = QUERY_TIMEOUT_MS } = options;
  try {
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
