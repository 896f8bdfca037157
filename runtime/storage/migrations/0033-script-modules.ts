import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What scripts import: the modules of each version, and their texts by hash. */
export const scriptModules: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table script_modules (hash text primary key, source text not null)`.execute(db);
    for (const kind of ['ivrscript', 'svcscript']) {
      const versions = sql.table(`${kind}_versions`);
      await sql`alter table ${sql.table(`${kind}s`)} add column modules jsonb not null default '{}'`.execute(db);
      await sql`alter table ${versions} add column modules jsonb not null default '{}'`.execute(db);
      await sql`alter table ${versions} add column draft boolean not null default false`.execute(db);
    }
  },
};
