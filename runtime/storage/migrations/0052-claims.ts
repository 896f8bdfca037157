import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Which node takes care of what a dead one left, so that another one goes on when it dies at that. */
export const claims: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // The process that is at it; null when it is done.
    await sql`alter table cluster_starts add column owner text`.execute(db);
  },
};
