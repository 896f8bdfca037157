/** The collection of recording rules. */
import { type Static, Type } from 'typebox';
import type { CollectionDefinition } from './definition.ts';
import { Composite, DialPatternText, Id, Label } from './fields.ts';

const schema = Type.Object({
  id: Id,
  domain_id: Id,
  name: Label,
  enabled: Type.Boolean(),
  /**
   * Rules with lower values are checked first, equal ones by id; the first match for a side of a call decides for the
   * domain.
   */
  priority: Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 }),
  /** The account concerned; null: every account of the domain. */
  sipuser_id: Type.Optional(Type.Union([Id, Type.Null()])),
  /** Direction as seen by the account: `in` receives the call, `out` makes it. */
  direction: Type.Union([Type.Literal('any'), Type.Literal('in'), Type.Literal('out')]),
  /** Number or login of the other party; pattern as in routes. */
  number_pattern: DialPatternText,
  /** False: matching calls are recorded only after a permitted `resume`. */
  record: Type.Boolean(),
  /** Storage of the recordings; empty: the node's own. */
  storage: Type.String({ pattern: '^[A-Za-z0-9_.-]{0,64}$', description: 'letters, digits, `_`, `.`, `-`' }),
  /** True: SETUP_RECORD may pause and resume the recording. */
  permit_pause: Type.Boolean(),
  opts: Composite,
  ext: Composite,
});

export type RecordingRuleRow = Static<typeof schema>;

/** Selects the calls of a domain that the platform records automatically (specification, "SETUP_RECORD"). */
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
    // The account must belong to the same domain.
    recordingrules_sipuser_id_fkey: 'sipuser_id',
  },
};
