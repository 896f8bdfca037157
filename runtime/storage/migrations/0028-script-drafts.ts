import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Scripts whose changes are not served yet. */
export const scriptDrafts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ['ivrscripts', 'svcscripts'])
      await sql`alter table ${sql.table(table)} add column draft boolean not null default false`.execute(db);
  },
};
