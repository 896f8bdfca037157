import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Corrects the role of the demo users: it named a path that does not exist instead of their own conferences. */
export const userRole: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      update roles set grants = (
        select jsonb_agg(
          case when one ->> 'path' = '/uc/calls_by_participation/**'
            then jsonb_set(one, '{path}', '"/uc/conferences_by_participation/**"') else one end
          order by place)
        from jsonb_array_elements(grants) with ordinality as each (one, place))
      where grants @> '[{"path": "/uc/calls_by_participation/**"}]'`.execute(db);
  },
};
