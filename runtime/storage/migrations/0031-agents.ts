import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Agents of queues. */
export const agents: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table agents (
        domain_id text not null references domains (id) on delete cascade,
        number text not null,
        state text not null,
        queues jsonb not null,
        skills jsonb not null,
        primary key (domain_id, number)
      )`.execute(db);
  },
};
