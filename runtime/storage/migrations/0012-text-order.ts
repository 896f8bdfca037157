import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Existing tables of collections; later ones are created with this collation. */
const TABLES = [
  'domains',
  'users',
  'roles',
  'sipusers',
  'featurecodes',
  'routes',
  'settings',
  'webapps',
  'providers',
  'recordingrules',
  'ivrscripts',
  'svcscripts',
] as const;

/**
 * Collection texts compare by code point, like all filters and orders, so that the indexes of unique keys apply; an
 * index serves pages in order of id.
 */
export const textOrder: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of TABLES) {
      const { rows } = await sql<{ name: string }>`
        select column_name as name from information_schema.columns
        where table_schema = current_schema() and table_name = ${table} and data_type = 'text'`.execute(db);
      const changes = rows.map(({ name }) => sql`alter column ${sql.id(name)} type text collate "C"`);
      await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db);
      if (table === 'domains') continue;
      const index = sql.id(`${table}_page_idx`);
      await sql`create index ${index} on ${sql.table(table)} (domain_id, id)`.execute(db);
    }
  },
};
