/** What the JSON Schema of scenarios allows at a place. */
import type { YamlPlace } from './yaml-place.ts';

export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
}

export interface Word {
  readonly word: string;
  readonly kind: 'key' | 'value' | 'block';
  readonly about: string | undefined;
}

const TARGET = '#/$defs/target';

/** Words for a place. @param blocks names of the blocks of the text */
export function wordsAt(schema: Schema, place: YamlPlace, blocks: readonly string[]): readonly Word[] {
  const { path, siblings, key } = place;
  let here = alternatives(schema, schema);
  for (const name of path) here = here.flatMap((each) => below(schema, each, name));
  const fitting = here.filter(({ required = [] }) => required.every((name) => siblings.includes(name)));
  const known = fitting.length > 0 ? fitting : here;
  const words =
    key === undefined ? known.flatMap(keysOf) : known.flatMap((each) => valuesOf(schema, each, key, blocks));
  const seen = new Set(siblings);
  return words.filter(({ word, kind }) => {
    if (seen.has(word) && kind === 'key') return false;
    seen.add(word);
    return true;
  });
}

/** Schemas without references and alternatives. */
function alternatives(root: Schema, schema: Schema): readonly Schema[] {
  if (schema.$ref !== undefined) {
    const target = root.$defs?.[schema.$ref.replace('#/$defs/', '')];
    return target === undefined ? [] : alternatives(root, target);
  }
  if (schema.anyOf === undefined) return [schema];
  return schema.anyOf.flatMap((each) => alternatives(root, each));
}

function below(root: Schema, schema: Schema, name: string): readonly Schema[] {
  const own = schema.properties?.[name];
  if (own !== undefined) return alternatives(root, own);
  const byPattern = Object.entries(schema.patternProperties ?? {}).find(([pattern]) => new RegExp(pattern).test(name));
  if (byPattern !== undefined) return alternatives(root, byPattern[1]);
  const { additionalProperties: rest } = schema;
  if (typeof rest === 'object') return alternatives(root, rest);
  return schema.items === undefined ? [] : alternatives(root, schema.items);
}

function keysOf({ properties = {} }: Schema): readonly Word[] {
  return Object.entries(properties).map(([word, { description }]) => ({ word, kind: 'key', about: description }));
}

function valuesOf(root: Schema, schema: Schema, key: string, blocks: readonly string[]): readonly Word[] {
  const own =
    schema.properties?.[key] ??
    (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  if (own === undefined) return [];
  const targets = own.$ref === TARGET ? blocks : [];
  return [
    ...targets.map((word): Word => ({ word, kind: 'block', about: undefined })),
    ...alternatives(root, own).flatMap(({ enum: values = [], type }) => [
      ...values.map((value): Word => ({ word: String(value), kind: 'value', about: undefined })),
      ...(type === 'boolean' ? ['true', 'false'] : []).map((word): Word => ({ word, kind: 'value', about: undefined })),
    ]),
  ];
}

/** Names of the blocks of a text. */
export function blocksOf(text: string): readonly string[] {
  const [, rest = ''] = text.split(/^blocks:[ \t]*$/m);
  const [indent] = /^ +(?=[\w.-]+:)/m.exec(rest) ?? [];
  if (indent === undefined) return [];
  const names = new RegExp(`^${indent}([A-Za-z]\\w*):`);
  const found: string[] = [];
  for (const line of rest.split('\n')) {
    if (/^\S/.test(line) && !line.startsWith('#')) break;
    const [, name] = names.exec(line) ?? [];
    if (name !== undefined) found.push(name);
  }
  return found;
}
