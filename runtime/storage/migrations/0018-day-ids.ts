import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * In history and transactionlog an id is unique per day: every partition gets a unique index. A partition with an id
 * that simultaneous requests created twice stays as it is.
 */
export const dayIds: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      do $$
      declare
        part record;
      begin
        for part in
          select child.relname as name, key.attname as time
          from pg_partitioned_table partitioned
          join pg_class parent on parent.oid = partitioned.partrelid
          join pg_namespace space on space.oid = parent.relnamespace and space.nspname = 'model'
          join pg_attribute key on key.attrelid = parent.oid and key.attnum = partitioned.partattrs[0]
          join pg_inherits on pg_inherits.inhparent = parent.oid
          join pg_class child on child.oid = pg_inherits.inhrelid
        loop
          begin
            execute format('create unique index if not exists %I on model.%I (id, (%I / 86400000))',
              'd' || substr(part.name, 2), part.name, part.time);
          exception when unique_violation then
            raise notice 'model.% has an id twice a day', part.name;
          end;
        end loop;
      end $$`.execute(db);
  },
};
