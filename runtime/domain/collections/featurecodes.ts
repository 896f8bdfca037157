/** The collection of featurecodes. */
import { type Static, Type } from 'typebox';
import { InvalidFieldError } from '../errors.ts';
import type { CollectionDefinition } from './definition.ts';
import { wrongOption } from './featurecode-opts.ts';
import { Composite, Id } from './fields.ts';

const schema = Type.Object({
  id: Id,
  domain_id: Id,
  /** Dialled before the number, e.g. `*80`. */
  prefix: Type.String({ pattern: '^[0-9*#]{1,16}$', description: 'digits, `*`, `#`' }),
  type: Type.Union([
    Type.Literal('intercom'),
    Type.Literal('conference'),
    Type.Literal('ivr'),
    Type.Literal('pickup'),
    Type.Literal('clir'),
  ]),
  opts: Composite,
  ext: Composite,
});

export type FeatureCodeRow = Static<typeof schema>;

export const featurecodes: CollectionDefinition = {
  entity: 'featurecode',
  table: 'featurecodes',
  schema,
  defaults: { opts: {}, ext: {} },
  composites: ['opts', 'ext'],
  json: [],
  writeOnly: [],
  hidden: [],
  constraints: { featurecodes_prefix_key: 'prefix', featurecodes_domain_id_fkey: 'domain_id' },
  derive(entity) {
    const { type, opts } = entity as FeatureCodeRow;
    const wrong = wrongOption(type, opts);
    if (wrong !== undefined) throw new InvalidFieldError('featurecode', wrong.field, wrong.reason, wrong.value);
    return Promise.resolve({});
  },
};
