import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Settings of domains by key, and the web applications offered to a domain's users. */
export const settings: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table settings (
        id text primary key,
        domain_id text not null references domains (id),
        key text not null,
        value jsonb not null,
        opts jsonb not null default '{}',
        ext jsonb not null default '{}',
        constraint settings_key_key unique (domain_id, key)
      )`.execute(db);
    await sql`
      create table webapps (
        id text primary key,
        domain_id text not null references domains (id),
        name text not null,
        description text not null default '',
        "order" integer not null default 100,
        icon text not null default '',
        "fa-icon" text not null default '',
        url text not null,
        roles jsonb not null default '[]',
        opts jsonb not null default '{}',
        ext jsonb not null default '{}'
      )`.execute(db);
    await sql`create index webapps_domain_id_idx on webapps (domain_id, "order", id)`.execute(db);
  },
};
