import { type TSchema, type TSchemaOptions, Type } from 'typebox';
import { DURATION_PATTERN } from './duration.ts';

/**
 * Kinds of settings beyond JSON types. `x-setting` names the kind for the checker and editors; the rest is plain JSON
 * Schema (TypeBox).
 */
export type SettingKind = 'duration' | 'sound' | 'condition' | 'assignments' | 'script';

/** A duration: `500ms`, `5s`, `2m`. */
export function Duration(options: TSchemaOptions = {}) {
  return Type.String({ ...options, pattern: DURATION_PATTERN, 'x-setting': 'duration' });
}

/** A sound: a prompt, a URL, `tone:<teletone>`, `silence:<duration>` or `say:<text>`: see `readSound`. */
export function Sound(options: TSchemaOptions = {}) {
  return Type.String({ ...options, minLength: 1, 'x-setting': 'sound' });
}

/** One sound or several, played one after another. */
export function Sounds(options: TSchemaOptions = {}) {
  return Type.Union([Sound(), Type.Array(Sound(), { minItems: 1, maxItems: 100 })], options);
}

/** A boolean expression, written without `${}`; the component receives its value. */
export function Condition(options: TSchemaOptions = {}) {
  return Type.Unsafe<boolean>(Type.Boolean({ ...options, 'x-setting': 'condition' }));
}

/** Names of variables with their new values. */
export function Assignments(options: TSchemaOptions = {}) {
  return Type.Record(Type.String(), Type.Any(), { ...options, 'x-setting': 'assignments' });
}

/** The kind of a schema from this file; undefined for others. */
export function settingKind(schema: TSchema): SettingKind | undefined {
  return (schema as { 'x-setting'?: SettingKind })['x-setting'];
}

/** One or several as a list. */
export function listOf<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}
