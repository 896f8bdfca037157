import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Scenarios as entities of a domain, with every version of their text. */
export const scripts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const name of ['ivrscript', 'svcscript']) {
      const table = `${name}s`;
      const versions = `${name}_versions`;
      await sql`
        create table ${sql.table(table)} (
          id text primary key,
          domain_id text not null references domains (id),
          code text not null,
          name text not null default '',
          scriptdata jsonb not null,
          version integer not null,
          serving jsonb not null,
          problems jsonb not null,
          opts jsonb not null default '{}',
          ext jsonb not null default '{}',
          constraint ${sql.id(`${table}_code_key`)} unique (domain_id, code)
        )`.execute(db);
      await sql`
        create table ${sql.table(versions)} (
          script_id text not null references ${sql.table(table)} (id) on delete cascade,
          number integer not null,
          scriptdata jsonb not null,
          problems jsonb not null,
          created bigint not null,
          primary key (script_id, number)
        )`.execute(db);
    }
  },
};
