/** Opens the database of a PostgreSQL server. */
import { Kysely } from 'kysely';
import { StorageUnavailableError } from '../errors.ts';
import { migrateOrEnd } from '../migrate-or-end.ts';
import { once } from '../once.ts';
import type { Schema } from '../schema.ts';
import {
  MAINTENANCE_TIMEOUT_MS,
  QUERY_TIMEOUT_MS,
  type Storage,
  type StorageLog,
  type StorageOptions,
} from '../storage.ts';
import { type NoticesOptions, PostgresNotices } from './notices.ts';
import { describeUrl, openPool } from './pool.ts';

const POOL_SIZE = 10;

export interface ServerOptions extends StorageOptions {
  readonly databaseUrl: string;
  readonly log: StorageLog;
}

/**
 * Opens the database of a PostgreSQL server and applies all migrations.
 * @throws StorageUnavailableError when the server cannot be used
 * @throws StorageMigrationError when a migration fails
 */
export async function openServer(options: ServerOptions): Promise<Storage> {
  const { databaseUrl, log, queryTimeoutMs = QUERY_TIMEOUT_MS, poolSize = POOL_SIZE } = options;
  if (!URL.canParse(databaseUrl)) {
    // The URL is not quoted: it may contain a password.
    throw new StorageUnavailableError('DATABASE_URL is not a URL. Write postgres://user:password@host:port/database.');
  }
  const forMigration = openPool({ databaseUrl, log, queryTimeoutMs: MAINTENANCE_TIMEOUT_MS, poolSize: 2 });
  const migrating = new Kysely<Schema>({ dialect: forMigration.dialect });
  await migrateOrEnd(migrating, log);
  await migrating.destroy();
  const { dialect, run, pool, close: closePool } = openPool({ databaseUrl, log, queryTimeoutMs, poolSize });
  const db = new Kysely<Schema>({ dialect });
  const notices = await listenOrEnd({ databaseUrl, db, log });
  const close = once(async () => {
    await notices.close();
    await db.destroy();
    await closePool();
  });
  return { kind: 'postgres', db, run, location: describeUrl(databaseUrl), log, notices, pool, close };
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
