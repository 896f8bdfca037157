/** The collection of routes. */
import { type Static, Type } from 'typebox';
import { domainKey } from '../../domain-name/index.ts';
import { InvalidFieldError } from '../errors.ts';
import type { CollectionDefinition } from './definition.ts';
import { Code, Composite, DialPatternText, Id } from './fields.ts';

const schema = Type.Object({
  id: Id,
  domain_id: Id,
  /** Routes with lower values are tried first, equal ones by id. */
  priority: Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 }),
  from_pattern: DialPatternText,
  to_pattern: DialPatternText,
  target: Type.Union([
    Type.Object(
      {
        type: Type.Literal('scenario'),
        code: Code,
        language: Type.Optional(
          Type.String({
            pattern: '^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$',
            description: 'Language tag of its runs, such as `de` or `de-AT`',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    Type.Object({ type: Type.Literal('provider'), code: Code }, { additionalProperties: false }),
    Type.Object(
      {
        type: Type.Literal('domain'),
        domain: Type.String({ minLength: 1, maxLength: 255, description: 'Name of another domain' }),
        strip: Type.Optional(Type.Integer({ minimum: 0, maximum: 32, description: 'Digits taken from the front' })),
      },
      { additionalProperties: false },
    ),
    Type.Object(
      { type: Type.Literal('reject'), status: Type.Integer({ minimum: 400, maximum: 699 }) },
      { additionalProperties: false },
    ),
  ]),
  opts: Composite,
  ext: Composite,
});

export type RouteRow = Static<typeof schema>;

export const routes: CollectionDefinition = {
  entity: 'route',
  table: 'routes',
  schema,
  defaults: { priority: 100, from_pattern: '%', opts: {}, ext: {} },
  composites: ['opts', 'ext'],
  json: ['target'],
  writeOnly: [],
  hidden: [],
  constraints: { routes_domain_id_fkey: 'domain_id' },
  async derive(entity, _before, db) {
    const { domain_id: domainId, target } = entity as RouteRow;
    if (target.type === 'domain') {
      const other = await db
        .selectFrom('domains')
        .select('id')
        .where((eb) => eb.fn('lower', ['name']), '=', domainKey(target.domain))
        .executeTakeFirst();
      if (other === undefined || other.id === domainId)
        throw new InvalidFieldError('route', 'target.domain', 'names no other domain', target.domain);
      return {};
    }
    if (target.type !== 'provider') return {};
    const found = await db
      .selectFrom('providers')
      .select('id')
      .where('domain_id', '=', domainId)
      .where('code', '=', target.code)
      .executeTakeFirst();
    if (found === undefined)
      throw new InvalidFieldError('route', 'target.code', 'names no provider of the domain', target.code);
    return {};
  },
};
