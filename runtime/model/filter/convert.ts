/** Converts an expression to a required type: literals adapt, JSON is cast, other types are refused. */
import { elementOf, type Expression, isList, type ListType, type ValueType } from './expression.ts';
import { FilterError } from './errors.ts';

const WORDS: Readonly<Record<ValueType, string>> = {
  text: 'text',
  number: 'a number',
  boolean: 'true or false',
  json: 'JSON',
  'text[]': 'a list of texts',
  'number[]': 'a list of numbers',
  'boolean[]': 'a list of true and false',
  null: 'null',
  'empty[]': 'a list',
};

export function wordFor(type: ValueType): string {
  return WORDS[type];
}

/** @throws FilterError when the expression's type cannot be converted */
export function convert(expression: Expression, type: ValueType, path: string): Expression {
  const found = expression.type;
  if (found === type) return expression;
  if (expression.kind === 'const') {
    if (found === 'null') return { kind: 'const', type, value: null };
    if (found === 'empty[]' && (isList(type) || type === 'json')) return { kind: 'const', type, value: [] };
    if (type === 'json') return { kind: 'const', type, value: expression.value };
    const value = found === 'json' ? constantOf(expression.value, type) : undefined;
    if (value !== undefined) return { kind: 'const', type, value };
  } else if (found === 'json' || type === 'json') {
    return { kind: 'cast', type, value: expression };
  }
  throw new FilterError(path, `must be ${WORDS[type]}, but is ${WORDS[found]}`);
}

function constantOf(value: unknown, type: ValueType): unknown {
  const isOne = (each: unknown, of: string): boolean => typeof each === (of === 'text' ? 'string' : of);
  if (!isList(type)) return isOne(value, type) ? value : undefined;
  if (!Array.isArray(value) || type === 'empty[]') return undefined;
  return value.every((each) => isOne(each, elementOf(type))) ? value : undefined;
}

/** The common type in which several expressions are compared; literals and JSON adapt to the plain type. */
export function commonType(expressions: readonly Expression[], paths: readonly string[]): ValueType {
  const types = new Set(expressions.map(({ type }) => type));
  types.delete('null');
  const plain = [...types].filter((type) => type !== 'json' && type !== 'empty[]');
  const [first, second] = plain;
  if (second !== undefined && first !== undefined) {
    const index = expressions.findIndex(({ type }) => type === second);
    throw new FilterError(paths[index] ?? '', `must be ${WORDS[first]}, but is ${WORDS[second]}`);
  }
  // Lists and JSON are compared as JSON: the element type of a JSON list is unknown.
  if (first !== undefined) return isList(first) ? (types.has('json') ? 'json' : first) : first;
  if (types.has('json')) return 'json';
  return types.has('empty[]') ? 'text[]' : 'null';
}

/** The element type of a literal list; JSON for mixed types. */
export function listLiteral(values: readonly unknown[]): Expression {
  if (values.length === 0) return { kind: 'const', type: 'empty[]', value: [] };
  const names: readonly [string, ListType][] = [
    ['string', 'text[]'],
    ['number', 'number[]'],
    ['boolean', 'boolean[]'],
  ];
  const found = names.find(([name]) => values.every((value) => typeof value === name));
  return { kind: 'const', type: found?.[1] ?? 'json', value: values };
}
