import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Responses to requests with an Idempotency-Key, replayed for their repeats. */
export const firstAnswers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table first_answers (
        -- Whose key it is: two users may choose the same one.
        user_id text not null,
        key text not null,
        -- Of the whole request: the same key with another request is a mistake.
        fingerprint text not null,
        -- Null while the first request is not answered.
        answer jsonb,
        expires bigint not null,
        primary key (user_id, key)
      )`.execute(db);
    await sql`create index first_answers_expires_idx on first_answers (expires)`.execute(db);
  },
};
