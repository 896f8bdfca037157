/** The collection of domains. */
import { type Kysely, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Schema } from '../../storage/index.ts';
import { InvalidFieldError } from '../errors.ts';
import type { CollectionDefinition } from './definition.ts';
import { DomainText, Id, Lic, Opts, Security, composites } from './fields.ts';
import { checkSrtpKeys } from './srtp-fields.ts';

const schema = Type.Object({
  id: Id,
  name: DomainText,
  /** The domain that administers all others. */
  is_master: Type.Boolean(),
  parent_id: Type.Optional(Type.Union([Id, Type.Null()])),
  ...composites,
  opts: Opts,
  lic: Lic,
  security: Security,
});

export type DomainRow = Static<typeof schema>;

/** True when `id` is the domain `ancestor` or one below it. */
async function isWithin(db: Kysely<Schema>, id: string, ancestor: string): Promise<boolean> {
  // `union` drops known domains, so that even a loop ends.
  const { rows } = await sql`
    with recursive above(id) as (
      select (${id}::text collate "C")
      union
      select d.parent_id from domains d join above on d.id = above.id where d.parent_id is not null
    )
    select 1 from above where id = ${ancestor}`.execute(db);
  return rows.length > 0;
}

export const domains: CollectionDefinition = {
  entity: 'domain',
  table: 'domains',
  schema,
  defaults: { is_master: false, parent_id: null, opts: {}, ext: {}, lic: {}, security: {} },
  composites: ['opts', 'ext', 'lic', 'security'],
  json: [],
  writeOnly: [],
  hidden: [],
  constraints: {
    domains_name_key: 'name',
    domains_master_key: 'is_master',
    domains_parent_id_fkey: 'parent_id',
  },
  selfReference: 'parent_id',
  async derive(entity, before, db) {
    checkSrtpKeys('domain', 'security', entity['security']);
    const parent = entity['parent_id'];
    if (before !== undefined && typeof parent === 'string' && (await isWithin(db, parent, before.id))) {
      throw new InvalidFieldError('domain', 'parent_id', 'is the domain itself or below it', parent);
    }
    if (before !== undefined && before['name'] !== entity['name']) {
      const owned = await db.selectFrom('sipusers').select('id').where('domain_id', '=', before.id).limit(1).execute();
      if (owned.length > 0) {
        throw new InvalidFieldError(
          'domain',
          'name',
          'cannot change while sipusers have digests made with it',
          entity['name'],
        );
      }
    }
    return {};
  },
};
