import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Tables of the collections as they are now; those to come are made so. */
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
 * Texts of the collections are compared by their characters' numbers, as filters and orders are everywhere, so that the
 * indexes of unique keys serve them; and pages in order of id come from an index.
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
