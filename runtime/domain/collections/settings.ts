import { type Static, Type } from 'typebox';
import type { CollectionDefinition } from './definition.ts';
import { Code, Composite, Id } from './fields.ts';

const schema = Type.Object({
  id: Id,
  domain_id: Id,
  key: Code,
  /** Any JSON value but null: a setting that is not wanted is removed. */
  value: Type.Union([
    Type.String(),
    Type.Number(),
    Type.Boolean(),
    Type.Array(Type.Unknown()),
    Type.Record(Type.String(), Type.Unknown()),
  ]),
  opts: Composite,
  ext: Composite,
});

export type SettingRow = Static<typeof schema>;

export const settings: CollectionDefinition = {
  entity: 'setting',
  table: 'settings',
  schema,
  defaults: { opts: {}, ext: {} },
  composites: ['opts', 'ext'],
  json: ['value'],
  writeOnly: [],
  hidden: [],
  constraints: { settings_key_key: 'key', settings_domain_id_fkey: 'domain_id' },
};
