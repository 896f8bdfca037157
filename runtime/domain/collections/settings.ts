import { type Static, Type } from 'typebox';
import { InvalidFieldError } from '../errors.ts';
import type { CollectionDefinition } from './definition.ts';
import { Code, Composite, Id } from './fields.ts';
import { areLimits, LIMITS_ARE } from './limits.ts';

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

/** What the settings that the platform itself reads must be. Those of the master domain alone count. */
const KNOWN: Readonly<Record<string, { readonly is: (value: unknown) => boolean; readonly what: string }>> = {
  iam_token_svcscript_code: {
    is: (value) => typeof value === 'string' && /^[A-Za-z0-9_.-]{0,64}$/.test(value),
    what: 'the code of a service scenario; empty: none',
  },
  scenario_limits: {
    is: areLimits,
    what: LIMITS_ARE,
  },
  record_asr_options: {
    is: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    what: 'an object',
  },
};

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
  derive(entity) {
    const { key, value } = entity as SettingRow;
    const known = Object.hasOwn(KNOWN, key) ? KNOWN[key] : undefined;
    if (known?.is(value) === false)
      throw new InvalidFieldError('setting', 'value', `of ${key} must be ${known.what}`, value);
    return Promise.resolve({});
  },
};
