import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** File stores of the nodes on the database: see `runtime/storage/files/store-check.ts`. */
export const fileStores: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table file_stores (id text primary key, location text not null)`.execute(db);
  },
};
