import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Gives filter functions the same results in every database and in memory. */
export const filterFunctions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // Exact for whole numbers up to 2^53, as stored.
    await sql`
      create or replace function model.mod(a float8, b float8) returns float8 language sql immutable parallel safe as
        $$ select case when a is null or b is null or b = 0 then null when a = 0 then 0
          when abs(a) <= 9007199254740991 and abs(b) <= 9007199254740991 and a = trunc(a) and b = trunc(b)
            then mod(a::bigint, b::bigint)::float8
          when abs(a) between 1e-15 and 1e15 and abs(b) between 1e-15 and 1e15 then a - b * trunc(a / b) end $$`.execute(
      db,
    );
    // PGlite would uppercase ß to a capital sharp s; other databases keep it.
    await sql`
      create or replace function model.upper(t text) returns text language sql immutable parallel safe as
        $$ select case when strpos(t, 'ß') = 0 then upper(t collate "default") else
          (select string_agg(upper(part collate "default"), 'ß' order by place)
            from unnest(string_to_array(t, 'ß')) with ordinality as parts (part, place)) end $$`.execute(db);
  },
};
