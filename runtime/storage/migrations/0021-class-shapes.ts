import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Each change of the properties of a class renames its table: see `runtime/model/table/names.ts`. */
export const classShapes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table model_classes add column shape integer not null default 0`.execute(db);
  },
};
