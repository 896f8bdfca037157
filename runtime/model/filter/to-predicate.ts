/** Back-end for collections in memory: an expression as a function of an entity. It agrees with PostgreSQL. */
import type { Expression } from './expression.ts';
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
  const evaluate = toFunction(expression);
  return (item) => evaluate(item) === true;
}

/** @throws Error for aggregates, which are no function of one entity */
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

function call(node: CallNode): Evaluate {
  const args = node.args.map(toFunction);
  const [a, b, c] = args as [Evaluate, Evaluate, Evaluate];
  switch (node.name) {
    case 'and':
      return (item) => args.every((arg) => arg(item) === true);
    case 'or':
      return (item) => args.some((arg) => arg(item) === true);
    case 'not':
      return (item) => a(item) !== true;
    case 'equal':
      return (item) => values.isEqual(a(item), b(item));
    case 'not_equal':
      return (item) => !values.isEqual(a(item), b(item));
    case 'less':
      return compare(a, b, (order) => order < 0);
    case 'less_or_equal':
      return compare(a, b, (order) => order <= 0);
    case 'greater':
      return compare(a, b, (order) => order > 0);
    case 'greater_or_equal':
      return compare(a, b, (order) => order >= 0);
    case 'between': {
      const [low, high] = [compare(a, b, (order) => order >= 0), compare(a, c, (order) => order <= 0)];
      return (item) => low(item) && high(item);
    }
    case 'is_null':
      return (item) => a(item) === null;
    case 'is_empty':
      return (item) => isEmpty(a(item));
    case 'in':
      return listTest(b, a, (list, value) => value !== null && includes(list, value));
    case 'contains_all':
      return listTest(a, b, (list, items) => Array.isArray(items) && items.every((each) => includes(list, each)));
    case 'contains_any':
      return listTest(a, b, (list, items) => Array.isArray(items) && items.some((each) => includes(list, each)));
    case 'if':
      return (item) => (a(item) === true ? b(item) : c(item));
    case 'coalesce':
      return (item) => {
        for (const arg of args) {
          const value = arg(item);
          if (value !== null) return value;
        }
        return null;
      };
    case 'concat':
      return (item) => args.map((arg) => arg(item) ?? '').join('');
    case 'size':
      return (item) => {
        const list = a(item);
        return Array.isArray(list) ? list.length : null;
      };
    case 'like':
    case 'ilike':
    case 'regexp':
    case 'iregexp':
      return whenText(a, matcher(node));
    default:
      return textual(node, args) ?? numeric(node, args);
  }
}

function matcher({ name, args }: CallNode): (text: string) => boolean {
  const pattern = args[1];
  if (pattern?.kind !== 'const' || typeof pattern.value !== 'string') throw new Error('The pattern is no literal.');
  if (name === 'like' || name === 'ilike') return compileLike(parseLike(pattern.value) ?? [], name === 'ilike');
  return compileRegex(parseRegex(pattern.value, name === 'iregexp'));
}

function textual({ name }: CallNode, [a, b, c]: readonly Evaluate[]): Evaluate | undefined {
  if (a === undefined) return undefined;
  switch (name) {
    case 'starts_with':
      return twoTexts(a, b, (text, start) => text.startsWith(start));
    case 'ends_with':
      return twoTexts(a, b, (text, end) => text.endsWith(end));
    case 'contains':
      return twoTexts(a, b, (text, part) => text.includes(part));
    case 'lower':
      return whenText(a, (text) => values.changeCase(text, 'toLowerCase'), null);
    case 'upper':
      return whenText(a, (text) => values.changeCase(text, 'toUpperCase'), null);
    case 'length':
      return whenText(a, (text) => [...text].length, null);
    case 'ts':
      return whenText(a, parseTime, null);
    case 'substr':
      return (item) => {
        const [text, start, length] = [a(item), b?.(item), c === undefined ? Infinity : c(item)];
        const isComplete = typeof text === 'string' && typeof start === 'number' && typeof length === 'number';
        return isComplete ? values.substring(text, start, length) : null;
      };
    default:
      return undefined;
  }
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
  if (two === undefined) throw new Error(`${name} is no function of one entity.`);
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
