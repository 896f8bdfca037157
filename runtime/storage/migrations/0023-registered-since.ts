import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** When a contact registered first, beside its last renewal. */
export const registeredSince: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table registrations add column since bigint`.execute(db);
    await sql`update registrations set since = saved`.execute(db);
    await sql`alter table registrations alter column since set not null`.execute(db);
  },
};
