import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The index of recorded calls. */
export const recordings: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table recordings (
        id text primary key,
        -- No reference: what was recorded outlives its domain.
        domain_id text not null,
        domain text not null,
        idconn text not null,
        inviteid text not null,
        dialogid text not null,
        -- Empty: the main recording; else the layer of SETUP_RECORD.
        layer text not null,
        rule_id text not null,
        storage text not null,
        status text not null,
        reason text not null,
        startts bigint not null,
        endts bigint not null,
        length integer not null,
        size bigint not null,
        sha256 text not null,
        reclink text not null,
        parties jsonb not null,
        transcribe boolean not null,
        asr_status text not null,
        asr_since bigint not null,
        transcript jsonb not null,
        -- The node that records, or recorded.
        node text not null
      )`.execute(db);
    await sql`create index recordings_domain_id_idx on recordings (domain_id, startts, id)`.execute(db);
    await sql`create index recordings_idconn_idx on recordings (idconn)`.execute(db);
    await sql`create index recordings_open_idx on recordings (node) where status = 'recording'`.execute(db);
    await sql`
      create index recordings_asr_idx on recordings (asr_since, id) where asr_status in ('queued', 'running')`.execute(
      db,
    );
  },
};
