/** The migrations at the opening of a database. */
import type { Kysely } from 'kysely';
import { migrateToLatest } from './migrations/index.ts';
import type { Schema } from './schema.ts';
import type { StorageLog } from './storage.ts';

/** A migration may rewrite a large table, and a checkpoint may be large; only start and stop wait for them. */
export const MAINTENANCE_TIMEOUT_MS = 3_600_000;

/** Applies the pending migrations. @param db closed when one fails @throws as `migrateToLatest` does */
export async function migrateOrEnd(db: Kysely<Schema>, log: StorageLog): Promise<void> {
  try {
    const applied = await migrateToLatest(db);
    if (applied.length > 0) log.info({ applied }, 'database migrated');
  } catch (error) {
    await db.destroy();
    throw error;
  }
}
