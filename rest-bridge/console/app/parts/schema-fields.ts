/** From a JSON Schema to the fields of a form, and from what is typed to a body. */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

/** `list`: texts, one a line. `json`: everything that has no control of its own. */
export type FieldKind = 'text' | 'number' | 'flag' | 'choice' | 'list' | 'json';

export interface SchemaField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly hint: string | undefined;
  readonly fallback: unknown;
  readonly choices: readonly string[];
  readonly schema: Schema;
}

/** What is typed, by field. Flags are `true` and `false`. */
export type Typed = Readonly<Record<string, string>>;
export type MistakeKind = 'missing' | 'notNumber' | 'notJson';

/** The fields of an object, required ones first. */
export function fieldsOf({ properties = {}, required = [] }: Schema): readonly SchemaField[] {
  return Object.entries(properties)
    .map(([name, schema]) => ({
      name,
      kind: kindOf(schema),
      required: required.includes(name),
      hint: schema.description,
      fallback: schema.default,
      choices: schema.enum?.map(String) ?? [],
      schema,
    }))
    .toSorted((a, b) => Number(b.required) - Number(a.required));
}

function kindOf(schema: Schema): FieldKind {
  if (schema.enum?.every((value) => typeof value === 'string') === true) return 'choice';
  const isTextList = ({ type, items }: Schema): boolean => type === 'array' && items?.type === 'string';
  if (isTextList(schema) || schema.anyOf?.some(isTextList) === true) return 'list';
  return KINDS[String(schema.type)] ?? 'json';
}

const KINDS: Readonly<Record<string, FieldKind>> = {
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'flag',
};

/** A default or an example as it would be typed. */
export function typedForm(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The body from what is typed; empty fields are left out. */
export function bodyOf(
  fields: readonly SchemaField[],
  typed: Typed,
): { readonly body: Readonly<Record<string, unknown>>; readonly mistakes: Readonly<Record<string, MistakeKind>> } {
  const body: Record<string, unknown> = {};
  const mistakes: Record<string, MistakeKind> = {};
  for (const field of fields) {
    const text = typed[field.name] ?? '';
    if (text === '') {
      if (field.required && field.kind !== 'flag') mistakes[field.name] = 'missing';
      continue;
    }
    const value = valueOf(field, text);
    if (value === undefined) mistakes[field.name] = field.kind === 'number' ? 'notNumber' : 'notJson';
    else body[field.name] = value;
  }
  return { body, mistakes };
}

/** Undefined for a text that is none of the field's values. */
function valueOf({ kind, schema }: SchemaField, text: string): unknown {
  switch (kind) {
    case 'number':
      return Number.isFinite(Number(text)) ? Number(text) : undefined;
    case 'flag':
      return text === 'true';
    case 'list': {
      const lines = text.split('\n').filter((line) => line !== '');
      return schema.type === 'array' || lines.length !== 1 ? lines : lines[0];
    }
    case 'json':
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return undefined;
      }
    case 'choice':
    case 'text':
      return text;
    default:
      return kind satisfies never;
  }
}
