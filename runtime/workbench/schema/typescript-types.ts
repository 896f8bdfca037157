/** TypeScript types for JSON schemas of settings and results. */
import type { TSchema } from 'typebox';
import { type ResultField, settingKind } from '../../language/index.ts';

/** The used subset of JSON Schema. */
interface Shape {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
}

/** The TypeScript type of an author's value; `Json` for any value. */
export function inputType(schema: TSchema): string {
  return typeOf(schema, 'Json');
}

/** The type of a result field; undefined when only the author knows it. */
export function resultType({ type, values, schema }: ResultField): string | undefined {
  if (values !== undefined) return literals(values);
  if (schema !== undefined) return typeOf(schema, 'any');
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'string' || type === 'boolean' ? type : undefined;
}

export function literals(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(' | ');
}

/** @param anything the type for values that the schema leaves open */
function typeOf(schema: TSchema, anything: string): string {
  if (settingKind(schema) === 'duration') return 'Duration';
  const { type, enum: values, anyOf, items, properties = {}, patternProperties = {}, required = [] } = schema as Shape;
  if (values) return literals(values);
  if (anyOf) return anyOf.map((each) => typeOf(each, anything)).join(' | ');
  if (type === 'array') return `readonly (${typeOf(items ?? {}, anything)})[]`;
  if (type === 'integer' || type === 'number') return 'number';
  if (type !== 'object') return type === 'string' || type === 'boolean' ? type : anything;
  const fields = Object.entries(properties).map(([name, field]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`;
    return `readonly ${key}${required.includes(name) ? '' : '?'}: ${typeOf(field, anything)}`;
  });
  if (fields.length > 0) return `{ ${fields.join('; ')} }`;
  const [value = {}] = Object.values(patternProperties);
  const held = typeOf(value, anything);
  return `{ readonly [key: string]: ${held === 'Json' ? 'Json | undefined' : held} }`;
}
