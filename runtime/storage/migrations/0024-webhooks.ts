import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Webhooks of a domain, and the deliveries of their events. */
export const webhooks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table webhooks (
        id text primary key,
        domain_id text not null references domains (id),
        name text not null default '',
        url text not null,
        enabled boolean not null default true,
        events jsonb not null,
        objects jsonb not null default '[]',
        classpath text not null default '',
        exargs jsonb not null default '{}',
        -- [{secret, until}]: the present one, and the former one while it is valid.
        secrets jsonb not null,
        state jsonb not null,
        opts jsonb not null default '{}',
        ext jsonb not null default '{}'
      )`.execute(db);
    await sql`create index webhooks_domain_id_idx on webhooks (domain_id, id)`.execute(db);
    await sql`
      create table webhook_deliveries (
        id text primary key,
        webhook_id text not null references webhooks (id) on delete cascade,
        event text not null,
        -- The JSON that is sent, as text: its signature covers the bytes.
        body text not null,
        status text not null,
        attempts integer not null default 0,
        created bigint not null,
        -- When it is given up.
        expires bigint not null,
        -- The next attempt; of a claimed one, when its node counts as dead. Null: it is over.
        due bigint,
        -- A node is sending it.
        claimed boolean not null default false,
        finished bigint,
        last_status integer,
        last_error text not null default ''
      )`.execute(db);
    await sql`create index webhook_deliveries_webhook_id_idx on webhook_deliveries (webhook_id, created, id)`.execute(
      db,
    );
    await sql`
      create index webhook_deliveries_due_idx on webhook_deliveries (webhook_id, due, id) where status = 'waiting'`.execute(
      db,
    );
  },
};
