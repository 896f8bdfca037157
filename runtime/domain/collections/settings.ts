/** The collection of settings. */
import { type Static, Type } from 'typebox';
import { InvalidFieldError } from '../errors.ts';
import { asrOptionsProblem } from './asr-options.ts';
import type { CollectionDefinition } from './definition.ts';
import { Code, Composite, Id } from './fields.ts';
import { canonicalLanguage } from './prompts.ts';
import type { CheckLimits } from './scripts.ts';

const schema = Type.Object({
  id: Id,
  domain_id: Id,
  key: Code,
  /** Any JSON value but null; to unset a setting, remove it. */
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

/** Checks of the settings that the platform reads; each returns the mistake. They apply to the master domain only. */
const known = (checkLimits: CheckLimits): Readonly<Record<string, (value: unknown) => string | undefined>> => ({
  iam_token_svcscript_code: (value) =>
    typeof value === 'string' && /^[A-Za-z0-9_.-]{0,64}$/.test(value)
      ? undefined
      : 'must be the code of a service scenario; empty: none',
  scenario_limits: checkLimits,
  language: (value) =>
    typeof value === 'string' && value !== '' && canonicalLanguage(value) !== undefined
      ? undefined
      : 'must be a language tag, e.g. de or de-AT',
  record_asr_options: (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? asrOptionsProblem(value)
      : 'must be an object',
});

export function settings(checkLimits: CheckLimits): CollectionDefinition {
  const checks = known(checkLimits);
  return {
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
      const problem = Object.hasOwn(checks, key) ? checks[key]?.(value) : undefined;
      if (problem !== undefined) throw new InvalidFieldError('setting', 'value', `of ${key}: ${problem}`, value);
      return Promise.resolve({});
    },
  };
}
