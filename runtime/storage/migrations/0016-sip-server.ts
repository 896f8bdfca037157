import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** With several SIP servers, a phone is called through the server of its registration. */
export const sipServer: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table registrations add column sip_server text`.execute(db);
  },
};
