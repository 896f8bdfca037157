import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Files that may be unused: see `runtime/model/attachments/orphans.ts`. */
export const modelFiles: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table model_suspect_files (
      hasha text primary key,
      -- Milliseconds since the epoch.
      since bigint not null
    )`.execute(db);
    await sql`create index model_suspect_files_since on model_suspect_files (since)`.execute(db);
  },
};
