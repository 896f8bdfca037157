/** Tables of the IAM room. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const iam: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table roles (
        id text primary key,
        domain_id text not null references domains (id),
        code text not null,
        name text not null default '',
        grants jsonb not null default '[]',
        opts jsonb not null default '{}',
        ext jsonb not null default '{}',
        constraint roles_code_key unique (domain_id, code)
      )`.execute(db);
    await sql`
      create table sessions (
        id text primary key,
        token_hash text not null,
        user_id text not null references users (id) on delete cascade,
        domain_id text not null references domains (id) on delete cascade,
        kind text not null,
        created bigint not null,
        expires bigint not null,
        constraint sessions_token_hash_key unique (token_hash)
      )`.execute(db);
    await sql`create index sessions_user_id_idx on sessions (user_id)`.execute(db);
    await sql`create index sessions_expires_idx on sessions (expires)`.execute(db);
  },
};
