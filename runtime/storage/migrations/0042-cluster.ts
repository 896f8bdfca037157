import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Which node of a cluster works at the first request with an Idempotency-Key, and which starts were made by a node. */
export const cluster: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table first_answers add column node text`.execute(db);
    await sql`
      create table cluster_starts (
        -- What is started, and when.
        name text primary key,
        -- Milliseconds since the epoch.
        expires bigint not null
      )`.execute(db);
  },
};
