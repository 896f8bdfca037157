import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Entities shared by all nodes in memory. See `runtime/model/memory/shared-entities.ts`. */
export const modelMemory: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create sequence model_memory_versions`.execute(db);
    await sql`create table model_memory (
      class_id text not null,
      id text collate "C" not null,
      entity jsonb not null,
      version bigint not null,
      -- When it ends, milliseconds since the epoch.
      expires bigint,
      primary key (class_id, id)
    )`.execute(db);
    await sql`create table model_memory_unique (
      class_id text not null,
      property text not null,
      value text not null,
      id text not null,
      primary key (class_id, property, value)
    )`.execute(db);
    await sql`create index model_memory_unique_id on model_memory_unique (class_id, id)`.execute(db);
  },
};
