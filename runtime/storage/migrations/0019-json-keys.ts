import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The value at a JSON path through lists: a key of a list of objects is the list of that key of each object. */
export const jsonKeys: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // A deliberately low cost: PostgreSQL inlines the surrounding function only while it seems cheap.
    await sql`
      create function model.through(j jsonb, keys text[]) returns jsonb language plpgsql immutable parallel safe cost 1 as $$
      declare
        key text;
      begin
        foreach key in array keys loop
          if jsonb_typeof(j) = 'array' and key !~ '^[+-]?\\d{1,9}$' then
            j := (select jsonb_agg(item -> key order by place)
              from jsonb_array_elements(j) with ordinality as items (item, place)
              where jsonb_typeof(item) = 'object' and item ? key);
          else
            j := j #> array[key];
          end if;
          exit when j is null;
        end loop;
        return nullif(j, 'null'::jsonb);
      end $$`.execute(db);
  },
};
