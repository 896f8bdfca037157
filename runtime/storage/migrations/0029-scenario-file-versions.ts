import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Numbers of the versions of scenario files, the same for all nodes of a database. */
export const scenarioFileVersions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table scenario_file_versions (
        scenario text not null,
        number integer not null,
        hash text not null,
        created bigint not null,
        primary key (scenario, number),
        unique (scenario, hash)
      )`.execute(db);
  },
};
