/** Types of the client's answers. */
import type { Json, JsonObject } from '../operation.ts';
import { typeOf } from './types.ts';

/** The answer of a method of the client. */
export interface AnswerType {
  /** TypeScript type; with `depends` it uses the type `A` of the arguments. */
  readonly type: string;
  readonly read: 'json' | 'response' | 'nothing';
  /** True when the type of the answer depends on the arguments. */
  readonly depends: boolean;
}

type Responses = Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Json }>> }>>;

/** The answer of a success: JSON, a file as received, or nothing. */
export function answerType(responses: Responses): AnswerType {
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const types = new Set<string>();
  let depends = false;
  for (const [status, { content }] of good) {
    const json = content?.['application/json'];
    if (json !== undefined) {
      const chosen = choice(json.schema);
      depends ||= chosen !== undefined;
      types.add(chosen ?? typeOf(json.schema));
    } else if (content !== undefined) return { type: 'Response', read: 'response', depends: false };
    else types.add(status === '204' ? 'undefined' : 'unknown');
  }
  const all = [...types];
  if (all.every((type) => type === 'undefined')) return { type: 'void', read: 'nothing', depends: false };
  if (all.includes('unknown')) return { type: 'unknown', read: 'json', depends: false };
  return { type: all.map((type) => `(${type})`).join(' | '), read: 'json', depends };
}

/** The type of an answer with a special form: that of a dry run, a number of items, or rows of groups. */
function choice(schema: Json | undefined): string | undefined {
  const forms = typeof schema === 'object' && schema !== null && 'anyOf' in schema ? schema['anyOf'] : undefined;
  if (!Array.isArray(forms)) return undefined;
  for (const [helper, isSpecial] of [
    ['Tried', isDryRun],
    ['Listed', isCount],
  ] as const) {
    const special = forms.find(isSpecial);
    if (special === undefined) continue;
    const rows = forms.find(isRows);
    const others = forms.filter((form) => form !== special && form !== rows);
    if (rows !== undefined)
      return `Grouped<A, ${helper}<A, ${typeOf({ anyOf: others })}, ${typeOf(special)}>, ${typeOf(rows)}>`;
    return `${helper}<A, ${typeOf({ anyOf: others })}, ${typeOf(special)}>`;
  }
  return undefined;
}

function propertiesOf(form: Json): JsonObject {
  const properties = typeof form === 'object' && form !== null && 'properties' in form ? form['properties'] : undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- properties are schemas by name
  return (properties ?? {}) as JsonObject;
}

function isDryRun(form: Json): boolean {
  const { dry_run: dry } = propertiesOf(form);
  return typeof dry === 'object' && dry !== null && 'const' in dry && dry['const'] === true;
}

/** True for a list of objects without known properties. */
function isRows(form: Json): boolean {
  const items = typeof form === 'object' && form !== null && 'items' in form ? form['items'] : undefined;
  const isObject = typeof items === 'object' && items !== null && 'type' in items && items['type'] === 'object';
  return isObject && Object.keys(propertiesOf(items)).length === 0;
}

function isCount(form: Json): boolean {
  return Object.keys(propertiesOf(form)).join(',') === 'count';
}
