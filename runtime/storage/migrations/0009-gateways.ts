import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Gateways of providers register like phones, each with its own login. */
export const gateways: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table registrations drop constraint registrations_sipuser_id_fkey`.execute(db);
    await sql`
      create unique index providers_gateway_key on providers (domain_id, login) where register = 'inbound'`.execute(db);
  },
};
