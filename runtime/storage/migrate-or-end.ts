/** The migrations at the opening of a database. */
import type { Kysely } from 'kysely';
import { migrateToLatest } from './migrations/index.ts';
import type { Schema } from './schema.ts';
import type { StorageLog } from './storage.ts';

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
