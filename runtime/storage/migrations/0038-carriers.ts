import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Several gateways of a provider, how it writes numbers, and how callers are named between it and this platform. */
export const carriers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      alter table providers
        add column gateways jsonb not null default '[]',
        add column numbering jsonb not null default '{}',
        add column identity jsonb not null default '{}'`.execute(db);
  },
};
