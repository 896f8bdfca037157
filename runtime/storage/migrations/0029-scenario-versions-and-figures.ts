import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Numbers of the versions of scenario files, the same for all nodes of a database; figures of scenarios by the hour. */
export const scenarioVersionsAndFigures: Migration = {
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
    await sql`
      create table scenario_figures (
        domain_id text not null,
        scenario text not null,
        hour bigint not null,
        kind text not null,
        name text not null,
        count bigint not null,
        total_ms bigint not null,
        longest_ms bigint not null,
        cpu_ms double precision not null,
        memory_bytes bigint not null,
        primary key (domain_id, scenario, hour, kind, name)
      )`.execute(db);
    await sql`create index scenario_figures_hour on scenario_figures (hour)`.execute(db);
  },
};
