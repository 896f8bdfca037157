/** CEL errors as messages for authors, with suggestions. */
import { FUNCTIONS, insteadOfFunction, insteadOfMethod, OBJECTS } from './foreign-functions.ts';
import { CONDITION, type Declared, DEFAULT, foreignAt, RANGE } from './foreign-syntax.ts';
import { nearest } from '../../words/index.ts';
import { suggestName } from '../problem.ts';

/** A mistake in an expression; `start` counts characters from its beginning. */
export interface ExpressionProblem {
  readonly start: number;
  readonly message: string;
  readonly suggestion?: string;
}

/** CEL's errors carry `summary` (one line) and `range`; anything else keeps its message. */
function plain(error: unknown): { readonly text: string; readonly start: number } {
  const { summary, range, message } = error as { summary?: string; range?: { start: number }; message?: string };
  return { text: summary ?? message ?? String(error), start: range?.start ?? 0 };
}

function problem(start: number, message: string, suggestion: string | undefined): ExpressionProblem {
  return { start, message, ...(suggestion === undefined ? {} : { suggestion }) };
}

/** The problem for a syntax error. */
export function misread(error: unknown, source: string, declared: Declared): ExpressionProblem {
  const { text, start } = plain(error);
  const reserved = /^Reserved identifier: (\w+)$/.exec(text)?.[1];
  if (reserved !== undefined)
    return problem(
      start,
      `"${reserved}" is a word of the language`,
      foreignAt(start, source, declared) ?? 'choose another name',
    );
  if (/Unexpected token: EOF|^Expected \w+, got EOF$/.test(text))
    return problem(start, 'the expression is incomplete', whatIsMissing(source));
  const message = `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
  if (!/^(Unexpected (character|token)|Expected )/.test(text)) return problem(start, message, undefined);
  // The parser may have read a foreign word as a name before its error.
  for (const at of [start, start - 1, source.slice(0, start).search(/\w+\s*$/), source.indexOf('{{')]) {
    const suggestion = at < 0 ? undefined : foreignAt(at, source, declared);
    if (suggestion !== undefined) return problem(at, 'this is not valid syntax', suggestion);
  }
  return problem(start, message, undefined);
}

/** The suggestion for an expression that ends too early. */
function whatIsMissing(source: string): string | undefined {
  if (source.trim() === '') return 'write a name or a value between ${ and }';
  if (/\?[^:]*$/.test(source)) return CONDITION;
  const operator = /(?:&&|\|\||[=!<>]=|[-+*/%<>?:,.!]|\bin)\s*$/.exec(source)?.[0].trim();
  if (operator !== undefined) return `write a value behind ${operator}`;
  const open = unclosed(source);
  return open === undefined ? undefined : `close the ${open}`;
}

/** The last bracket that is not closed, outside of texts. */
function unclosed(source: string): string | undefined {
  const open: string[] = [];
  for (const [bracket] of source.replaceAll(/"[^"]*"|'[^']*'/g, '').matchAll(/[([{}\])]/g)) {
    if ('([{'.includes(bracket)) open.push(bracket);
    else open.pop();
  }
  return open.at(-1);
}

/** The problem for a type error or an unknown name. */
export function mistyped(error: unknown, source: string, declared: Declared): ExpressionProblem {
  const { text, start } = plain(error);
  const unknown = /^Unknown variable: (\w+)$/.exec(text)?.[1];
  if (unknown !== undefined) return unknownName(unknown, start, source, declared);
  const field = /^No such key: (\w+)$/.exec(text)?.[1];
  if (field !== undefined) {
    const record = declared.records.get(/(\w+)\s*\.\s*$/.exec(source.slice(0, start))?.[1] ?? '');
    return unknownField(field, start, record && Object.keys(record));
  }
  return (
    noFunction(text, start, source) ?? noOperator(text, start, source) ?? problem(start, plainTypes(text), undefined)
  );
}

/** The problem for an unknown name. */
export function unknownName(name: string, start: number, source: string, declared: Declared): ExpressionProblem {
  return problem(start, `unknown name "${name}"`, insteadOfName(name, source, declared));
}

/** The problem for an unknown field; `known` are the record's fields. */
export function unknownField(field: string, start: number, known: readonly string[] | undefined): ExpressionProblem {
  return problem(start, `there is no field "${field}"`, known && suggestName(meantField(field, known), known));
}

/** Other systems' names for fields of the call. */
const OF_CALL: Readonly<Record<string, string>> = {
  caller: 'number',
  caller_id: 'number',
  callerid: 'number',
  from: 'number',
  to: 'dialled',
  called: 'dialled',
  callee: 'dialled',
};

function meantField(field: string, known: readonly string[]): string {
  const meant = Object.hasOwn(OF_CALL, field) ? OF_CALL[field] : undefined;
  return meant !== undefined && known.includes(meant) ? meant : field;
}

/** The known field behind an unknown name; undefined: no guess. */
export function nearestField(field: string, known: readonly string[]): string | undefined {
  return nearest(meantField(field, known), known);
}

/** Values of other languages. */
const VALUES: Readonly<Record<string, string>> = {
  True: 'write true',
  TRUE: 'write true',
  False: 'write false',
  FALSE: 'write false',
};
const NOTHING = /^(?:undefined|None|none|nil|NULL|Null|NaN)$/;
const NO_NULL = 'an empty text is "", a number that was not set is 0';

function insteadOfName(name: string, source: string, { variables, records }: Declared): string | undefined {
  const known = [...variables.keys(), ...records.keys()];
  const method = new RegExp(`\\b${name}\\.(\\w+)`).exec(source)?.[1];
  if (name === 'Date') return 'the time is now, e.g. now.getHours()';
  if (Object.hasOwn(VALUES, name)) return VALUES[name];
  if (NOTHING.test(name)) return NO_NULL;
  if (OBJECTS.has(name) && method !== undefined)
    return FUNCTIONS.includes(method) ? `write ${method}(...)` : insteadOfFunction(method);
  const found = itself(name, source, known);
  if (found !== undefined || nearest(name, known) !== undefined) return found ?? suggestName(name, known);
  const owner = ownerOf(name, records);
  if (owner === undefined) return suggestName(name, known);
  const more = owner === 'call' ? ' for that of the call, or declare it under parameters' : '';
  return `write ${owner}.${name}${more}`;
}

/** Records that are not suggested by their fields. */
const ASIDE: ReadonlySet<string> = new Set(['scenario', 'event', 'error']);

/** The block with a result of this name, or `call`. */
function ownerOf(field: string, records: Declared['records']): string | undefined {
  const owners = [...records].filter(([name, fields]) => !ASIDE.has(name) && Object.hasOwn(fields, field));
  return (owners.find(([name]) => name !== 'call') ?? owners[0])?.[0];
}

/** Names need no prefix (`args.who` is `who`), and texts need quotes (`== yes`). */
function itself(unknown: string, source: string, known: readonly string[]): string | undefined {
  const field = new RegExp(`\\b${unknown}\\.(\\w+)`).exec(source)?.[1];
  if (field !== undefined) return known.includes(field) ? `write ${field} by itself` : undefined;
  if (!/^(yes|no|on|off)$/i.test(unknown) && nearest(unknown, known) !== undefined) return undefined;
  const isCompared = new RegExp(`[=!]=\\s*${unknown}\\b(?!\\()|\\b${unknown}\\s*[=!]=`).test(source);
  return isCompared ? `write "${unknown}" if it is a text` : undefined;
}

/** The problem for an unknown function, or one with wrong argument types, at its name. */
function noFunction(text: string, at: number, source: string): ExpressionProblem | undefined {
  const [, owner, name = '', types = ''] =
    /^found no matching overload for '(?:([^']*)\.)?(\w+)\(([^']*)\)'$/.exec(text) ?? [];
  if (name === '') return undefined;
  const found = source.slice(at).search(new RegExp(`\\b${name}\\s*\\(`));
  const start = found < 0 ? at : at + found;
  if (name === 'now') return problem(start, 'now is no function', 'write now, e.g. now.getHours()');
  const instead = owner === undefined ? insteadOfFunction(name) : insteadOfMethod(name, owner);
  if (!FUNCTIONS.includes(name)) return problem(start, `there is no function "${name}"`, instead);
  const of = owner === undefined ? types : `${owner}${types === '' ? '' : ` and ${types}`}`;
  return problem(start, `"${name}" is not for values of type ${plainTypes(of)}`, instead);
}

/** Suggestions for conditions that are not boolean. */
const AS_CONDITION: Readonly<Record<string, string>> = {
  string: 'compare it, e.g. with == ""',
  int: 'compare it, e.g. with == 0',
  double: 'compare it, e.g. with == 0',
  list: 'count it: size(...) > 0',
  map: 'count it: size(...) > 0',
};

function asCondition(type: string): string {
  return AS_CONDITION[type.replace(/<.*/, '')] ?? 'compare it, e.g. with ==';
}

/** Suggestions for incompatible operands, by the types on both sides of an operator. */
const MIXED: readonly (readonly [RegExp, string])[] = [
  [/^string \+ (?:int|double|bool)$|^(?:int|double|bool) \+ string$/, 'convert with string(...)'],
  [/^(?:int|double) % (?:int|double)$/, 'convert with int(...)'],
  [/^string in string$/, 'write text.contains("x")'],
  [
    /^(?:string (?:[=!<>]=|[<>]) (?:int|double)|(?:int|double) (?:[=!<>]=|[<>]) string)$/,
    'a text is compared with a text, e.g. "1"; int(...) makes it a number',
  ],
  [/^(?:bool [=!]= string|string [=!]= bool)$/, 'compare it with true or false, without quotes'],
  [/^bool [<>]=? (?:int|double)$/, RANGE],
  [/^list<.*> \+ |^list \+ /, 'write list + [x]'],
  [/^string %/, 'write "text " + name'],
  [/^string \*/, 'a script block can do it'],
  [/[=!]= null$|^null [=!]= /, NO_NULL],
  [/Timestamp [-+] (?:int|double|string)$/, 'write duration("90s")'],
  [
    /Timestamp (?:[=!<>]=|[<>]) string$|^string (?:[=!<>]=|[<>]) .*Timestamp$/,
    'write timestamp("2026-01-01T00:00:00Z")',
  ],
];

function noOperator(text: string, start: number, source: string): ExpressionProblem | undefined {
  const types = /^no such overload: (.*)$/i.exec(text)?.[1];
  if (types !== undefined) {
    const negated = /^!(\S+)$/.exec(types)?.[1];
    const suggestion =
      negated === undefined ? MIXED.find(([pattern]) => pattern.test(types))?.[1] : asCondition(negated);
    return problem(start, `these types do not go together: ${plainTypes(types)}`, suggestion);
  }
  const indexed = /^Cannot index type '(.*?)'$/.exec(text)?.[1];
  if (indexed !== undefined)
    return problem(
      start,
      `a value of type ${plainTypes(indexed)} has no fields and no items`,
      ofText(indexed, source, start),
    );
  if (text.startsWith('List index must be int')) {
    const message = 'a list has no fields: items are read by their number, e.g. [0], and counted by size(...)';
    return problem(start, message, undefined);
  }
  const combined = /^Logical operator requires bool operands, got '(.*)'$/.exec(text)?.[1];
  if (combined !== undefined) {
    const suggestion =
      combined === 'string' ? `${asCondition(combined)}; for a default ${DEFAULT}` : asCondition(combined);
    return problem(
      start,
      `only true and false can be combined, not a value of type ${plainTypes(combined)}`,
      suggestion,
    );
  }
  const asked = /^Ternary condition must be bool, got '(.*)'$/.exec(text)?.[1];
  if (asked !== undefined)
    return problem(start, `a value of type ${plainTypes(asked)} is not true or false`, asCondition(asked));
  const [, one, other] = /^Ternary branches must have the same type, got '(.*)' and '(.*)'$/.exec(text) ?? [];
  if (one === undefined || other === undefined) return undefined;
  return problem(
    start,
    `both results must be of one type, not ${plainTypes(one)} and ${plainTypes(other)}`,
    [one, other].includes('string') ? 'convert with string(...)' : 'convert with double(...)',
  );
}

/** `name.length`, `name[0]` */
function ofText(type: string, source: string, start: number): string | undefined {
  if (type !== 'string') return undefined;
  const rest = source.slice(start);
  if (/^\.?\s*(?:length|size|len|count)\b/.test(rest)) return 'write size(...)';
  if (/^\.?\s*(?:is_?)?empty\b/i.test(rest)) return 'compare it with ""';
  return rest.includes('[') ? 'write substring(0, 1)' : 'texts have functions, e.g. text.trim()';
}

/** The message for an error at evaluation. */
export function failed(error: unknown, source: string): string {
  const { text, start } = plain(error);
  const index = /index out of bounds, index (-?\d+)/.exec(text)?.[1];
  if (index !== undefined) return `there is no item ${index}: they count from 0, and size(...) tells how many`;
  const key = /^No such key: (\w+)$/.exec(text)?.[1];
  if (key !== undefined && isSecret(source, start))
    return `there is no secret "${key}" in this domain: the operator adds it to secrets.json, or the file that RINGMASTER_SECRETS_FILE names`;
  if (key === 'length') return 'there is no field "length": texts and lists are counted by size(...)';
  if (key !== undefined) return `there is no field "${key}": check first with has(...)`;
  const converted = /^(int|double|bool)\(\) type error: cannot convert/.exec(text)?.[1];
  if (converted !== undefined) return `${converted}(...) cannot convert this text`;
  return mistyped(error, '', { variables: new Map(), records: new Map() }).message;
}

/** True when the text at this place reads a field of `secrets`, by a dot or in brackets. */
function isSecret(source: string, start: number): boolean {
  return /(?<!\.\s*)\bsecrets\s*\.\s*$/.test(source.slice(0, start)) || /^secrets\s*\[/.test(source.slice(start));
}

/** Replaces CEL types in a text by the scenario language's names. */
function plainTypes(text: string): string {
  return text
    .replaceAll(/\bgoogle\.protobuf\.(?:Timestamp|Duration)\b/g, 'time')
    .replaceAll(/\bdyn<(\w+)>/g, '$1')
    .replaceAll(/\bint\b/g, 'integer')
    .replaceAll(/\bdouble\b/g, 'number')
    .replaceAll(/\bbool\b/g, 'boolean')
    .replaceAll(/\blist<[^>]*>/g, 'list')
    .replaceAll(/\bmap<[^>]*>/g, 'object')
    .replaceAll(/\bdyn\b/g, 'any');
}
