/** Back-end for memory: compiles an expression to a function of an entity, with the results of PostgreSQL. */
import type { Expression } from './expression.ts';
import type { FunctionName } from './functions.ts';
import { compileLike, parseLike } from './like.ts';
import { compileRegex } from './regex/automaton.ts';
import { parseRegex } from './regex/parse.ts';
import { parseTime, partOf, truncate, type TruncationUnit } from './time.ts';
import * as values from './values.ts';

export type Item = Readonly<Record<string, unknown>>;
/** Null where PostgreSQL has null; comparisons are true or false. */
export type Evaluate = (item: Item) => unknown;

type CallNode = Extract<Expression, { kind: 'call' }>;

/** A condition as a predicate; null counts as false. */
export function toPredicate(expression: Expression): (item: Item) => boolean {
  const simple = textEquality(expression);
  if (simple !== undefined) return simple;
  const evaluate = toFunction(expression);
  return (item) => evaluate(item) === true;
}

/** @throws Error for aggregates, which need several entities */
export function toFunction(expression: Expression): Evaluate {
  switch (expression.kind) {
    case 'const': {
      const { value } = expression;
      return () => value;
    }
    case 'property':
      return property(expression.name, expression.keys);
    case 'cast':
      return cast(expression);
    case 'call':
      return call(expression);
    default:
      return expression satisfies never;
  }
}

function property(name: string, keys: readonly string[]): Evaluate {
  // An own property is looked for only where another could be found.
  if (keys.length === 0 && !(name in Object.prototype)) return (item) => item[name] ?? null;
  if (keys.length === 0) return (item) => (Object.hasOwn(item, name) ? (item[name] ?? null) : null);
  return (item) => {
    let value: unknown = Object.hasOwn(item, name) ? item[name] : undefined;
    for (const key of keys) value = values.keyOf(value, key);
    return value ?? null;
  };
}

function cast({ type, value }: Extract<Expression, { kind: 'cast' }>): Evaluate {
  const inner = toFunction(value);
  if (type === 'json') return inner;
  const wanted = type === 'text' ? 'string' : type;
  return (item) => {
    const found = inner(item);
    return typeof found === wanted ? found : null;
  };
}

/** The most frequent condition, a property equal to a text, as one step. */
function textEquality(expression: Expression): ((item: Item) => boolean) | undefined {
  if (expression.kind !== 'call' || expression.name !== 'equal') return undefined;
  const [left, right] = expression.args;
  const name = textProperty(left);
  const value = isScalar(right) ? right.value : undefined;
  return name === undefined || typeof value !== 'string' ? undefined : (item) => item[name] === value;
}

/** The name of a property, if the expression is one that has no other value than its own where it equals a text. */
function textProperty(expression: Expression | undefined): string | undefined {
  const inner = expression?.kind === 'cast' && expression.type === 'text' ? expression.value : expression;
  if (inner?.kind !== 'property') return undefined;
  return inner.keys.length === 0 && !(inner.name in Object.prototype) ? inner.name : undefined;
}

/** The arguments of a call; the signature has checked their number. */
type Args = readonly [Evaluate, Evaluate, Evaluate, ...Evaluate[]];

function call(node: CallNode): Evaluate {
  const args = node.args.map(toFunction) as unknown as Args;
  return CALLS[node.name]?.(args, node) ?? numeric(node, args);
}

const CALLS: Readonly<Partial<Record<FunctionName, (args: Args, node: CallNode) => Evaluate>>> = {
  and: (args) => (item) => args.every((arg) => arg(item) === true),
  or: (args) => (item) => args.some((arg) => arg(item) === true),
  not:
    ([a]) =>
    (item) =>
      a(item) !== true,
  equal([a, b], node) {
    const [, right] = node.args;
    if (!isScalar(right)) return (item) => values.isEqual(a(item), b(item));
    const simple = textEquality(node);
    if (simple !== undefined) return simple;
    const { value } = right;
    return (item) => a(item) === value;
  },
  not_equal:
    ([a, b]) =>
    (item) =>
      !values.isEqual(a(item), b(item)),
  less: ([a, b]) => compare(a, b, (order) => order < 0),
  less_or_equal: ([a, b]) => compare(a, b, (order) => order <= 0),
  greater: ([a, b]) => compare(a, b, (order) => order > 0),
  greater_or_equal: ([a, b]) => compare(a, b, (order) => order >= 0),
  between([a, b, c]) {
    const [low, high] = [compare(a, b, (order) => order >= 0), compare(a, c, (order) => order <= 0)];
    return (item) => low(item) === true && high(item) === true;
  },
  is_null:
    ([a]) =>
    (item) =>
      a(item) === null,
  is_empty:
    ([a]) =>
    (item) =>
      isEmpty(a(item)),
  in: ([a, b]) => listTest(b, a, (list, value) => value !== null && includes(list, value)),
  contains_all: ([a, b]) =>
    listTest(a, b, (list, items) => Array.isArray(items) && items.every((each) => includes(list, each))),
  contains_any: ([a, b]) =>
    listTest(a, b, (list, items) => Array.isArray(items) && items.some((each) => includes(list, each))),
  if:
    ([a, b, c]) =>
    (item) =>
      a(item) === true ? b(item) : c(item),
  coalesce: (args) => (item) => {
    for (const arg of args) {
      const value = arg(item);
      if (value !== null) return value;
    }
    return null;
  },
  concat: (args) => (item) => args.map((arg) => (arg(item) ?? '') as string).join(''),
  size:
    ([a]) =>
    (item) => {
      const list = a(item);
      return Array.isArray(list) ? list.length : null;
    },
  like: ([a], node) => whenText(a, matcher(node)),
  ilike: ([a], node) => whenText(a, matcher(node)),
  regexp: ([a], node) => whenText(a, matcher(node)),
  iregexp: ([a], node) => whenText(a, matcher(node)),
  starts_with: ([a, b]) => twoTexts(a, b, (text, start) => text.startsWith(start)),
  ends_with: ([a, b]) => twoTexts(a, b, (text, end) => text.endsWith(end)),
  contains: ([a, b]) => twoTexts(a, b, (text, part) => text.includes(part)),
  lower: ([a]) => whenText(a, (text) => values.changeCase(text, 'toLowerCase'), null),
  upper: ([a]) => whenText(a, (text) => values.changeCase(text, 'toUpperCase'), null),
  length: ([a]) => whenText(a, (text) => Array.from(text).length, null),
  ts: ([a]) => whenText(a, parseTime, null),
  substr([a, b, ...rest]) {
    const [c] = rest as readonly (Evaluate | undefined)[];
    return (item) => {
      const [text, start, length] = [a(item), b(item), c === undefined ? Infinity : c(item)];
      const isComplete = typeof text === 'string' && typeof start === 'number' && typeof length === 'number';
      return isComplete ? values.substring(text, start, length) : null;
    };
  },
};

/** Whether an argument is a literal that equals itself alone. */
function isScalar(argument: Expression | undefined): argument is Extract<Expression, { kind: 'const' }> {
  return argument?.kind === 'const' && (argument.value === null || typeof argument.value !== 'object');
}

function matcher({ name, args }: CallNode): (text: string) => boolean {
  const pattern = args[1];
  if (pattern?.kind !== 'const' || typeof pattern.value !== 'string') throw new Error('The pattern is not a literal.');
  if (name === 'like' || name === 'ilike') return compileLike(parseLike(pattern.value) ?? [], name === 'ilike');
  return compileRegex(parseRegex(pattern.value, name === 'iregexp'));
}

const ONE_NUMBER: Readonly<Record<string, (value: number) => number | null>> = {
  abs: Math.abs,
  round: values.round,
  floor: Math.floor,
  ceil: Math.ceil,
  year: (time) => partOf('year', time),
  month: (time) => partOf('month', time),
  day: (time) => partOf('day', time),
  hour: (time) => partOf('hour', time),
};

const TWO_NUMBERS: Readonly<Record<string, (a: number, b: number) => number | null>> = {
  add: values.add,
  sub: values.subtract,
  mul: values.multiply,
  div: values.divide,
  mod: values.modulo,
};

function numeric({ name }: CallNode, args: readonly Evaluate[]): Evaluate {
  const [a, b] = args;
  const one = ONE_NUMBER[name];
  if (one !== undefined && a !== undefined) return whenNumber(a, one);
  if (name === 'trunc' && a !== undefined && b !== undefined) {
    return (item) => whenNumber(b, (time) => truncate(a(item) as TruncationUnit, time))(item);
  }
  const two = TWO_NUMBERS[name];
  if (two === undefined) throw new Error(`${name} is not a function of one entity.`);
  return args.reduce((left, right) => (item) => {
    const [x, y] = [left(item), right(item)];
    return typeof x === 'number' && typeof y === 'number' ? two(x, y) : null;
  });
}

function compare(a: Evaluate, b: Evaluate, accept: (order: number) => boolean): Evaluate {
  return (item) => {
    const [left, right] = [a(item), b(item)];
    if (typeof left === 'number' && typeof right === 'number') return accept(left - right);
    if (typeof left === 'string' && typeof right === 'string') return accept(values.compareText(left, right));
    return false;
  };
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return values.isObject(value) && Object.keys(value).length === 0;
}

function includes(list: readonly unknown[], value: unknown): boolean {
  return list.some((item) => values.isEqual(item, value));
}

function listTest(
  list: Evaluate,
  other: Evaluate,
  test: (list: readonly unknown[], other: unknown) => boolean,
): Evaluate {
  return (item) => {
    const found = list(item);
    return Array.isArray(found) && test(found, other(item));
  };
}

function whenText(a: Evaluate, apply: (text: string) => unknown, otherwise: unknown = false): Evaluate {
  return (item) => {
    const text = a(item);
    return typeof text === 'string' ? apply(text) : otherwise;
  };
}

function twoTexts(a: Evaluate, b: Evaluate | undefined, apply: (text: string, other: string) => boolean): Evaluate {
  return (item) => {
    const [text, other] = [a(item), b?.(item)];
    return typeof text === 'string' && typeof other === 'string' && apply(text, other);
  };
}

function whenNumber(a: Evaluate, apply: (value: number) => number | null): Evaluate {
  return (item) => {
    const value = a(item);
    return typeof value === 'number' ? apply(value) : null;
  };
}
