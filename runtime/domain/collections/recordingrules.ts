import { type Static, Type } from 'typebox';
import type { CollectionDefinition } from './definition.ts';
import { Composite, DialPatternText, Id, Label } from './fields.ts';

const schema = Type.Object({
  id: Id,
  domain_id: Id,
  name: Label,
  enabled: Type.Boolean(),
  /** Lower is looked at first; the first rule that fits a side of a call decides for the domain. Equal ones by id. */
  priority: Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 }),
  /** The account whose calls it is about; null: every account of the domain. */
  sipuser_id: Type.Optional(Type.Union([Id, Type.Null()])),
  /** As the account sees the call: `in` it is called, `out` it calls. */
  direction: Type.Union([Type.Literal('any'), Type.Literal('in'), Type.Literal('out')]),
  /** Number or login of the other side; pattern as in routes. */
  number_pattern: DialPatternText,
  /** False: such calls are not recorded, unless a `resume` is permitted and comes. */
  record: Type.Boolean(),
  /** Name of the storage that recordings go to; empty: the node's own. */
  storage: Type.String({ pattern: '^[A-Za-z0-9_.-]{0,64}$', description: 'letters, digits, `_`, `.`, `-`' }),
  /** Whether SETUP_RECORD may pause and resume the recording of such calls. */
  permit_pause: Type.Boolean(),
  opts: Composite,
  ext: Composite,
});

export type RecordingRuleRow = Static<typeof schema>;

/** Which calls of a domain the platform records by itself (specification, "SETUP_RECORD"). */
export const recordingrules: CollectionDefinition = {
  entity: 'recordingrule',
  table: 'recordingrules',
  schema,
  defaults: {
    name: '',
    enabled: true,
    priority: 100,
    sipuser_id: null,
    direction: 'any',
    number_pattern: '%',
    record: true,
    storage: '',
    permit_pause: true,
    opts: {},
    ext: {},
  },
  composites: ['opts', 'ext'],
  json: [],
  writeOnly: [],
  hidden: [],
  constraints: {
    recordingrules_domain_id_fkey: 'domain_id',
    // The account must be one of the same domain.
    recordingrules_sipuser_id_fkey: 'sipuser_id',
  },
};
