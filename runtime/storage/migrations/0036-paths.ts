import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Edge proxies in front of registered phones (RFC 3327), and the devices behind contacts (RFC 5626). */
export const paths: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table registrations add column path jsonb not null default '[]'`.execute(db);
    await sql`alter table registrations add column instance text`.execute(db);
    await sql`alter table registrations add column reg_id integer`.execute(db);
  },
};
