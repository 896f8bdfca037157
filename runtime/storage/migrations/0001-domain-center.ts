import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Tables of domains and their entities. Users are included because sipusers refer to them. */
export const domainCenter: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table domains (
        id text primary key,
        name text not null,
        is_master boolean not null default false,
        parent_id text references domains (id),
        opts jsonb not null default '{}',
        ext jsonb not null default '{}',
        lic jsonb not null default '{}',
        security jsonb not null default '{}'
      )`.execute(db);
    await sql`create unique index domains_name_key on domains (lower(name))`.execute(db);
    await sql`create unique index domains_master_key on domains (is_master) where is_master`.execute(db);
    await sql`
      create table users (
        id text primary key,
        domain_id text not null references domains (id),
        login text not null,
        name text not null default '',
        password text not null,
        roles jsonb not null default '[]',
        domains jsonb not null default '[]',
        tags jsonb not null default '[]',
        opts jsonb not null default '{}',
        ext jsonb not null default '{}',
        lic jsonb not null default '{}',
        security jsonb not null default '{}',
        constraint users_login_key unique (domain_id, login)
      )`.execute(db);
    await sql`create index users_login_idx on users (login)`.execute(db);
    await sql`
      create table sipusers (
        id text primary key,
        domain_id text not null references domains (id),
        login text not null,
        phonenumber text not null default '',
        name text not null default '',
        user_id text references users (id) on delete set null,
        ha1_md5 text not null,
        ha1_sha256 text not null,
        opts jsonb not null default '{}',
        ext jsonb not null default '{}',
        lic jsonb not null default '{}',
        security jsonb not null default '{}',
        constraint sipusers_login_key unique (domain_id, login)
      )`.execute(db);
    await sql`
      create unique index sipusers_phonenumber_key on sipusers (domain_id, phonenumber)
      where phonenumber <> ''`.execute(db);
    await sql`create index sipusers_user_id_idx on sipusers (user_id)`.execute(db);
    await sql`
      create table featurecodes (
        id text primary key,
        domain_id text not null references domains (id),
        prefix text not null,
        type text not null,
        opts jsonb not null default '{}',
        ext jsonb not null default '{}',
        constraint featurecodes_prefix_key unique (domain_id, prefix)
      )`.execute(db);
    await sql`
      create table routes (
        id text primary key,
        domain_id text not null references domains (id),
        priority integer not null default 100,
        from_pattern text not null default '%',
        to_pattern text not null,
        target jsonb not null,
        opts jsonb not null default '{}',
        ext jsonb not null default '{}'
      )`.execute(db);
    await sql`create index routes_domain_id_idx on routes (domain_id, priority, id)`.execute(db);
  },
};
