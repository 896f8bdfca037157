import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Locks users against login. */
export const lockedUsers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table users add column locked boolean not null default false`.execute(db);
  },
};
