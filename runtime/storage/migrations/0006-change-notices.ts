import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Payloads of change notices that are too long for NOTIFY. Unlogged: they are worthless after a crash. */
export const changeNotices: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create unlogged table change_notices (
      id bigint primary key generated always as identity,
      -- Milliseconds since the epoch.
      published bigint not null,
      payload text not null
    )`.execute(db);
  },
};
