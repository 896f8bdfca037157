import type { TSchema } from 'typebox';
import { type Node, isMap, isSeq } from 'yaml';
import { type Value, plainText } from '../../values.ts';

/** The subset of JSON Schema that settings use, and its description in words. */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly TSchema[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly examples?: readonly Value[];
}

/** The member of a union that fits the node: the list type for a list, the text type for a text. */
export function variant(schema: TSchema, node: Node | null): Schema {
  const { anyOf } = schema as Schema;
  if (!anyOf) return schema;
  const wanted = isSeq(node) ? 'array' : isMap(node) ? 'object' : undefined;
  const found = anyOf.find((member) =>
    wanted === undefined
      ? !['array', 'object'].includes((member as Schema).type ?? '')
      : (member as Schema).type === wanted,
  );
  return found ?? anyOf[0] ?? {};
}

/** True for a schema that allows every value. */
export function isAny({ type, enum: values, anyOf }: Schema): boolean {
  return type === undefined && values === undefined && anyOf === undefined;
}

/** The allowed values of a schema, in words. */
export function describe(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map((member) => describe(member)).join(' or ');
  if (schema.enum) return `one of ${schema.enum.map(String).join(', ')}`;
  if (schema.type === 'integer' || schema.type === 'number') {
    const noun = schema.type === 'integer' ? 'a whole number' : 'a number';
    if (schema.minimum !== undefined && schema.maximum !== undefined)
      return `${noun} from ${schema.minimum} to ${schema.maximum}`;
    return schema.minimum === undefined ? noun : `${noun} of at least ${schema.minimum}`;
  }
  if (schema.type === 'boolean') return 'true or false';
  if (schema.type === 'array') return 'a list';
  if (schema.type === 'object') return 'a map';
  const extent = extentOf(schema);
  return schema.pattern === undefined
    ? `a text${extent}`
    : `a text like ${plainText(schema.examples?.[0] ?? schema.pattern)}`;
}

function extentOf({ minLength = 0, maxLength }: Schema): string {
  if (maxLength === undefined) return minLength > 0 ? ' that is not empty' : '';
  return minLength > 0 ? ` of ${minLength} to ${maxLength} characters` : ` of at most ${maxLength} characters`;
}

/** A sample value for a missing setting, from the schema. @param isScript in JavaScript, not in YAML */
export function example(name: string, schema: TSchema, isScript = false): string | undefined {
  const sample = (schema as Schema).examples?.[0];
  if (sample === undefined) return undefined;
  const text = plainText(sample);
  if (typeof sample !== 'string') return `e.g. ${name}: ${text}`;
  if (isScript) return `e.g. ${name}: '${text}'`;
  return `e.g. ${name}: ${/[{}[\],#]|: /.test(text) ? JSON.stringify(text) : text}`;
}
