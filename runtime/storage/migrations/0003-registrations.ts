/** The table of registered contacts. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const registrations: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table registrations (
        sipuser_id text not null references sipusers (id) on delete cascade,
        contact text not null,
        call_id text not null,
        cseq bigint not null,
        protocol text not null,
        address text not null,
        port integer not null,
        saved bigint not null,
        expires bigint not null,
        user_agent text,
        allow_events jsonb not null default '[]',
        primary key (sipuser_id, contact)
      )`.execute(db);
  },
};
