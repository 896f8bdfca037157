/** Converts JSON Schemas of the OpenAPI document to TypeScript types. */
import type { Json, JsonObject } from '../operation.ts';

/** The TypeScript type of a schema, on one line. */
export function typeOf(schema: Json | undefined): string {
  if (schema === undefined || schema === true || typeof schema !== 'object' || schema === null) return 'unknown';
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a schema that is no boolean is an object
  const object = schema as JsonObject;
  const { $ref: ref, const: constant, enum: values, anyOf, oneOf, allOf, type } = object;
  if (typeof ref === 'string') return typeName(ref.slice(ref.lastIndexOf('/') + 1));
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return union(values.map((value: Json) => JSON.stringify(value)));
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return union(choices.map(typeOf));
  if (Array.isArray(allOf)) return allOf.map((part: Json) => group(typeOf(part))).join(' & ');
  if (Array.isArray(type)) return union(type.map((each: Json) => typeOf({ ...object, type: each })));
  return simple(object);
}

/** The exported name of a schema of the document; the name `Error` belongs to JavaScript. */
export function typeName(name: string): string {
  return name === 'Error' ? 'ErrorObject' : name;
}

const SIMPLE: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

function simple(schema: JsonObject): string {
  const { type, format, items, properties } = schema;
  if (type === 'string' && format === 'binary') return 'Blob';
  if (type === 'array') return `readonly ${group(typeOf(items))}[]`;
  if (type === 'object' || properties !== undefined) return objectType(schema);
  return (typeof type === 'string' ? SIMPLE[type] : undefined) ?? 'unknown';
}

function objectType({ properties, required, additionalProperties: more }: JsonObject): string {
  const needed = new Set(Array.isArray(required) ? (required as readonly Json[]) : []);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- properties are schemas by name
  const fields = Object.entries((properties ?? {}) as JsonObject).map(
    ([name, schema]) => `${key(name)}${needed.has(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  const open = more === true || (typeof more === 'object' && more !== null) ? typeOf(more) : undefined;
  if (fields.length === 0) return open === undefined ? 'Record<string, never>' : `Record<string, ${open}>`;
  const known = `{ ${fields.join('; ')} }`;
  return open === undefined ? known : `${known} & Record<string, unknown>`;
}

/** A property name, quoted if necessary. */
export function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function union(types: readonly string[]): string {
  const different = [...new Set(types)];
  if (different.includes('unknown')) return 'unknown';
  return different.length === 0 ? 'never' : different.map(group).join(' | ');
}

/** The type in parentheses if a `|`, `&` or `[]` beside it would change its meaning. */
function group(type: string): string {
  return /[|&]|^readonly /.test(type) ? `(${type})` : type;
}
