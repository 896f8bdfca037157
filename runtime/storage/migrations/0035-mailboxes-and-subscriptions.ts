import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Voice messages of mailboxes, and the subscriptions of phones (RFC 6665). */
export const mailboxesAndSubscriptions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table voice_messages (
        id text primary key,
        domain_id text not null,
        mailbox text not null,
        number text not null,
        name text not null,
        -- Milliseconds since the epoch; heard 0: new.
        created bigint not null,
        heard bigint not null default 0,
        milliseconds bigint not null,
        size bigint not null,
        -- The WAV file, in the file store.
        hasha text not null
      )`.execute(db);
    await sql`create index voice_messages_mailbox_idx on voice_messages (domain_id, mailbox, created, id)`.execute(db);
    await sql`create index voice_messages_hasha_idx on voice_messages (hasha)`.execute(db);
    await sql`
      create table subscriptions (
        id text primary key,
        sipuser_id text not null references sipusers (id) on delete cascade,
        -- The node that sends its NOTIFYs.
        node text not null,
        -- Milliseconds since the epoch.
        expires bigint not null,
        data jsonb not null
      )`.execute(db);
    await sql`create index subscriptions_node_idx on subscriptions (node)`.execute(db);
  },
};
