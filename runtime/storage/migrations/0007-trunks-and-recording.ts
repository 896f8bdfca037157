import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Accounts at other operators, and which calls are recorded. */
export const trunksAndRecording: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table providers (
        id text primary key,
        domain_id text not null references domains (id),
        code text not null,
        name text not null default '',
        enabled boolean not null default true,
        host text not null,
        port integer not null default 5060,
        transport text not null default 'udp',
        register text not null default 'none',
        register_expires integer not null default 600,
        login text not null default '',
        auth_user text not null default '',
        secret text not null default '',
        from_domain text not null default '',
        addresses jsonb not null default '[]',
        numbers jsonb not null default '[]',
        mapping jsonb not null default '{}',
        max_calls integer not null default 0,
        opts jsonb not null default '{}',
        ext jsonb not null default '{}',
        constraint providers_code_key unique (domain_id, code)
      )`.execute(db);
    // The key includes the domain, so that no rule refers to another domain's account.
    await sql`alter table sipusers add constraint sipusers_domain_id_id_key unique (domain_id, id)`.execute(db);
    await sql`
      create table recordingrules (
        id text primary key,
        domain_id text not null references domains (id),
        name text not null default '',
        enabled boolean not null default true,
        priority integer not null default 100,
        sipuser_id text,
        direction text not null default 'any',
        number_pattern text not null default '%',
        record boolean not null default true,
        storage text not null default '',
        permit_pause boolean not null default true,
        opts jsonb not null default '{}',
        ext jsonb not null default '{}',
        constraint recordingrules_sipuser_id_fkey foreign key (domain_id, sipuser_id)
          references sipusers (domain_id, id) on delete cascade on update cascade
      )`.execute(db);
    await sql`create index recordingrules_domain_id_idx on recordingrules (domain_id, priority, id)`.execute(db);
    await sql`create index recordingrules_sipuser_id_idx on recordingrules (domain_id, sipuser_id)`.execute(db);
  },
};
