/**
 * Storage: one PostgreSQL dialect over PGlite (default) or a PostgreSQL server.
 *
 * Order in which the composition root opens the data rooms:
 *
 * 1. `storage = await openStorage({ dataDir, databaseUrl, log })` opens, locks, migrates;
 * 2. `if (await isEmpty(storage) && everyListenerIsLoopback) await createDemoData(storage, { scenarios })`;
 * 3. `directory = await openDirectory(storage)`, `location = await openLocation(storage, directory)`;
 * 4. `iam = await createIam(storage, directory, { allowList })`;
 * 5. at the stop, in reverse: `iam.close()`, `location.close()`, `storage.close()`.
 */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Kysely, sql } from 'kysely';
import { StorageUnavailableError } from './errors.ts';
import { lockDirectory } from './lock.ts';
import { startMaintenance } from './maintenance.ts';
import { NO_NOTICES } from './notices.ts';
import { migrateToLatest } from './migrations/index.ts';
import { ensureCluster, templateFolder } from './pglite/cluster.ts';
import { pgliteDialect } from './pglite/dialect.ts';
import { PgliteEngine } from './pglite/engine.ts';
import { type NoticesOptions, PostgresNotices } from './postgres/notices.ts';
import { describeUrl, openPool } from './postgres/pool.ts';
import type { Schema } from './schema.ts';
import type { Storage, StorageLog, StorageOptions } from './storage.ts';

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

const QUERY_TIMEOUT_MS = 10_000;
/** A migration may rewrite a large table, and a checkpoint may be large; only start and stop wait for them. */
const MAINTENANCE_TIMEOUT_MS = 3_600_000;
const POOL_SIZE = 10;

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
  const storage = databaseUrl === undefined ? await openPglite(options) : await openServer(options, databaseUrl);
  const milliseconds = Math.round(performance.now() - started);
  log.info({ kind: storage.kind, location: storage.location, milliseconds }, 'database open');
  return storage;
}

async function openPglite(options: StorageOptions): Promise<Storage> {
  const { log = silent, queryTimeoutMs = QUERY_TIMEOUT_MS } = options;
  const dataDir = resolve(options.dataDir);
  const directory = join(dataDir, 'pglite');
  await makeFolder(dataDir);
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
      close,
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openServer(options: StorageOptions, databaseUrl: string): Promise<Storage> {
  const { log = silent, queryTimeoutMs = QUERY_TIMEOUT_MS, poolSize = POOL_SIZE } = options;
  if (!URL.canParse(databaseUrl)) {
    // The URL is not quoted: it may contain a password.
    throw new StorageUnavailableError('DATABASE_URL is not a URL. Write postgres://user:password@host:port/database.');
  }
  const forMigration = openPool({ databaseUrl, log, queryTimeoutMs: MAINTENANCE_TIMEOUT_MS, poolSize: 2 });
  const migrating = new Kysely<Schema>({ dialect: forMigration.dialect });
  await migrateOrEnd(migrating, log);
  await migrating.destroy();
  const { dialect, run, close: closePool } = openPool({ databaseUrl, log, queryTimeoutMs, poolSize });
  const db = new Kysely<Schema>({ dialect });
  const notices = await listenOrEnd({ databaseUrl, db, log });
  const close = once(async () => {
    await notices.close();
    await db.destroy();
    await closePool();
  });
  return { kind: 'postgres', db, run, location: describeUrl(databaseUrl), log, notices, close };
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new StorageUnavailableError(`The data directory ${folder} cannot be made: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function migrateOrEnd(db: Kysely<Schema>, log: StorageLog): Promise<void> {
  try {
    const applied = await migrateToLatest(db);
    if (applied.length > 0) log.info({ applied }, 'database migrated');
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

async function listenOrEnd(options: NoticesOptions): Promise<PostgresNotices> {
  try {
    return await PostgresNotices.open(options);
  } catch (error) {
    await options.db.destroy();
    const where = describeUrl(options.databaseUrl);
    throw new StorageUnavailableError(`PostgreSQL at ${where} takes no connection for LISTEN: ${String(error)}`, {
      cause: error,
    });
  }
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= action());
}
