import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Runs that wait without a call, for another node of the cluster when theirs dies. */
export const waitingRuns: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table waiting_runs (
        run text primary key,
        -- The node's process that has the run.
        process text not null,
        -- JSON, also with characters that jsonb refuses.
        state text not null
      )`.execute(db);
    await sql`create index waiting_runs_process on waiting_runs (process)`.execute(db);
  },
};
