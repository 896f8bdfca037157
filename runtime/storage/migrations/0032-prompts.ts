import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Uploaded prompts of domains. Their files are in the file store, as those of attachments. */
export const prompts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table prompts (
        id text primary key,
        domain_id text not null references domains (id),
        name text not null,
        -- Empty: for every language.
        language text not null default '',
        kind text not null,
        filename text not null,
        size bigint not null,
        milliseconds bigint not null,
        mtime bigint not null,
        -- The file as it was uploaded, and what media servers play.
        hasha text not null,
        wav_hasha text not null,
        opts jsonb not null default '{}',
        ext jsonb not null default '{}',
        constraint prompts_name_key unique (domain_id, name, language)
      )`.execute(db);
    await sql`create index prompts_hasha_idx on prompts (hasha)`.execute(db);
    await sql`create index prompts_wav_hasha_idx on prompts (wav_hasha)`.execute(db);
  },
};
