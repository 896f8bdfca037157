/** The collection of web applications. */
import { type Static, Type } from 'typebox';
import type { CollectionDefinition } from './definition.ts';
import { Code, Composite, Id, Label } from './fields.ts';
import { checkRoles } from './role-codes.ts';

/** A link in the session data; excludes `javascript:` URLs. */
const Link = Type.String({
  maxLength: 2048,
  pattern: '^(?:https?://|/)[!-~]*$',
  description: 'a URL with http or https, or a path on this server',
});

const schema = Type.Object({
  id: Id,
  domain_id: Id,
  name: Label,
  description: Label,
  /** Position in the list. */
  order: Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 }),
  icon: Type.Union([Link, Type.Literal('')]),
  'fa-icon': Type.String({ maxLength: 128, pattern: '^[A-Za-z0-9 _-]*$', description: 'names of CSS classes' }),
  url: Link,
  /** Codes of the permitted roles; empty: every user. */
  roles: Type.Array(Code, { maxItems: 100, uniqueItems: true }),
  opts: Composite,
  ext: Composite,
});

export type WebAppRow = Static<typeof schema>;

export const webapps: CollectionDefinition = {
  entity: 'webapp',
  table: 'webapps',
  schema,
  defaults: { description: '', order: 100, icon: '', 'fa-icon': '', roles: [], opts: {}, ext: {} },
  composites: ['opts', 'ext'],
  json: ['roles'],
  writeOnly: [],
  hidden: [],
  constraints: { webapps_domain_id_fkey: 'domain_id' },
  async derive(entity, before, db) {
    const { roles: codes, domain_id: home } = entity as WebAppRow;
    await checkRoles(db, 'webapp', { codes, before: before?.['roles'], domains: [home] });
    return {};
  },
};
