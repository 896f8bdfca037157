/** Types of schema fields for filters. */
import type { TObject, TSchema } from 'typebox';
import type { ValueType } from './expression.ts';

/** The comparison types of a schema's fields; a field of several types is JSON. */
export function fieldTypes(schema: TObject): ReadonlyMap<string, ValueType> {
  return new Map(Object.entries(schema.properties).map(([name, property]) => [name, valueType(property)]));
}

/** The keywords of JSON Schema that determine a type. */
interface SchemaParts {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
}

const PLAIN: Readonly<Record<string, ValueType>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

function valueType(schema: TSchema): ValueType {
  const { type, const: constant, enum: values, anyOf, items }: SchemaParts = schema;
  if (anyOf !== undefined) return commonType(anyOf.map(valueType));
  if (type === 'array') return items !== undefined && valueType(items) === 'text' ? 'text[]' : 'json';
  if (type !== undefined) return PLAIN[type] ?? 'json';
  if (values !== undefined) return commonType(values.map((value) => PLAIN[typeof value] ?? 'json'));
  return PLAIN[typeof constant] ?? 'json';
}

/** True when the schema's numbers are integers. */
export function isIntegral(schema: TSchema): boolean {
  const { type, anyOf }: SchemaParts = schema;
  return type === 'integer' || (anyOf ?? []).some(isIntegral);
}

function commonType(types: readonly ValueType[]): ValueType {
  const distinct = new Set(types.filter((type) => type !== 'null'));
  const [first] = distinct;
  return first !== undefined && distinct.size === 1 ? first : 'json';
}
