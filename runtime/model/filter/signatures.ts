/** Argument and result types of every function. */
import { commonType, convert, wordFor } from './convert.ts';
import { FilterError } from './errors.ts';
import { elementOf, type Expression, isList, LIMITS, type ValueType } from './expression.ts';
import type { FunctionName } from './functions.ts';
import { parseLike } from './like.ts';
import { parseRegex, RegexSyntaxError } from './regex/parse.ts';
import { TRUNCATION_UNITS } from './time.ts';

interface Call {
  readonly name: FunctionName;
  readonly args: readonly Expression[];
  /** Position of each argument in errors. */
  readonly paths: readonly string[];
  readonly path: string;
}

type Rule = (call: Call) => { readonly type: ValueType; readonly args: readonly Expression[] };

/** A call with checked and converted arguments. @throws FilterError */
export function typedCall(
  name: FunctionName,
  args: readonly Expression[],
  paths: readonly string[],
  path: string,
): Expression {
  const { type, args: converted } = RULES[name]({ name, args, paths, path });
  return { kind: 'call', type, name, args: converted };
}

function count({ name, args, path }: Call, min: number, max = min): void {
  if (args.length >= min && args.length <= max) return;
  const many = max === Infinity ? `${min} or more` : min === max ? `${min}` : `${min} to ${max}`;
  throw new FilterError(path, `${name} takes ${many} ${many === '1' ? 'argument' : 'arguments'}, not ${args.length}`);
}

/** Arguments of fixed types; those after `required` are optional. */
function fixed(types: readonly ValueType[], result: ValueType, required = types.length): Rule {
  return (call) => {
    count(call, required, types.length);
    const args = call.args.map((arg, index) => convert(arg, types[index] ?? 'text', call.paths[index] ?? call.path));
    return { type: result, args };
  };
}

/** Any number of arguments of one type. */
function several(type: ValueType, result: ValueType, min: number): Rule {
  return (call) => {
    count(call, min, Infinity);
    return { type: result, args: call.args.map((arg, index) => convert(arg, type, call.paths[index] ?? call.path)) };
  };
}

function toCommon(call: Call, from = 0): { type: ValueType; args: readonly Expression[] } {
  const type = commonType(call.args.slice(from), call.paths.slice(from));
  const args = call.args.map((arg, index) => (index < from ? arg : convert(arg, type, call.paths[index] ?? call.path)));
  return { type, args };
}

const equality: Rule = (call) => {
  count(call, 2);
  return { type: 'boolean', args: toCommon(call).args };
};

function ordered(arity: number): Rule {
  return (call) => {
    count(call, arity);
    const { type, args } = toCommon(call);
    if (type !== 'text' && type !== 'number' && type !== 'null') {
      throw new FilterError(call.path, `${call.name} compares numbers or texts, not ${wordFor(type)}`);
    }
    return { type: 'boolean', args };
  };
}

const membership: Rule = (call) => {
  count(call, 2);
  const [value, list] = call.args as [Expression, Expression];
  const [valuePath = '', listPath = ''] = call.paths;
  if (list.type === 'json' || list.type === 'null') {
    return { type: 'boolean', args: [convert(value, 'json', valuePath), convert(list, 'json', listPath)] };
  }
  if (!isList(list.type)) throw new FilterError(listPath, 'must be a list: ["list", ...]');
  if (list.type === 'empty[]') return { type: 'boolean', args: [value, list] };
  return { type: 'boolean', args: [convert(value, elementOf(list.type), valuePath), list] };
};

const lists: Rule = (call) => {
  count(call, 2);
  call.args.forEach((arg, index) => {
    if (arg.type === 'json' || arg.type === 'null' || isList(arg.type)) return;
    throw new FilterError(call.paths[index] ?? call.path, `must be a list, but is ${wordFor(arg.type)}`);
  });
  const { type, args } = toCommon(call);
  if (isList(type)) return { type: 'boolean', args };
  return { type: 'boolean', args: args.map((arg, index) => convert(arg, 'json', call.paths[index] ?? call.path)) };
};

function pattern(check: (text: string) => string | undefined): Rule {
  return (call) => {
    const typed = fixed(['text', 'text'], 'boolean')(call);
    const given = typed.args[1];
    const path = call.paths[1] ?? call.path;
    if (given?.kind !== 'const' || typeof given.value !== 'string') {
      throw new FilterError(path, 'must be a pattern in quotes');
    }
    if (given.value.length > LIMITS.pattern) {
      throw new FilterError(path, `is longer than ${LIMITS.pattern} characters`);
    }
    const problem = check(given.value);
    if (problem !== undefined) throw new FilterError(path, problem);
    return typed;
  };
}

const likePattern = pattern((text) => (parseLike(text) === undefined ? 'ends with a backslash' : undefined));

function regexPattern(ignoreCase: boolean): Rule {
  return pattern((text) => {
    try {
      parseRegex(text, ignoreCase);
      return undefined;
    } catch (error) {
      if (error instanceof RegexSyntaxError) return error.message;
      throw error;
    }
  });
}

const anyOne =
  (type: ValueType): Rule =>
  (call) => {
    count(call, 1);
    return { type, args: call.args };
  };

const size: Rule = (call) => {
  count(call, 1);
  const [list] = call.args as [Expression];
  if (list.type === 'json' || isList(list.type)) return { type: 'number', args: call.args };
  throw new FilterError(call.paths[0] ?? call.path, `must be a list, but is ${wordFor(list.type)}`);
};

const truncation: Rule = (call) => {
  const typed = fixed(['text', 'number'], 'number')(call);
  const [unit] = typed.args;
  if (unit?.kind !== 'const' || !TRUNCATION_UNITS.some((each) => each === unit.value)) {
    throw new FilterError(call.paths[0] ?? call.path, `must be one of ${TRUNCATION_UNITS.join(', ')}`);
  }
  return typed;
};

const choice: Rule = (call) => {
  count(call, 3);
  const { type, args } = toCommon(call, 1);
  const condition = convert(call.args[0] as Expression, 'boolean', call.paths[0] ?? call.path);
  return { type, args: [condition, ...args.slice(1)] };
};

const coalesce: Rule = (call) => {
  count(call, 1, Infinity);
  return toCommon(call);
};

const extreme: Rule = (call) => {
  count(call, 1);
  const [value] = call.args as [Expression];
  if (value.type === 'text' || value.type === 'number') return { type: value.type, args: call.args };
  if (value.type === 'json') return { type: 'number', args: [convert(value, 'number', call.path)] };
  throw new FilterError(call.paths[0] ?? call.path, `must be a number or text, but is ${wordFor(value.type)}`);
};

const counting: Rule = (call) => {
  count(call, 0, 1);
  return { type: 'number', args: call.args };
};

const arithmetic = fixed(['number', 'number'], 'number');
const numeric = fixed(['number'], 'number');
const textual = fixed(['text'], 'text');
const twoTexts = fixed(['text', 'text'], 'boolean');

const RULES: Readonly<Record<FunctionName, Rule>> = {
  and: several('boolean', 'boolean', 1),
  or: several('boolean', 'boolean', 1),
  not: fixed(['boolean'], 'boolean'),
  true: fixed([], 'boolean'),
  false: fixed([], 'boolean'),
  equal: equality,
  not_equal: equality,
  less: ordered(2),
  less_or_equal: ordered(2),
  greater: ordered(2),
  greater_or_equal: ordered(2),
  between: ordered(3),
  in: membership,
  is_null: anyOne('boolean'),
  is_empty: anyOne('boolean'),
  like: likePattern,
  ilike: likePattern,
  regexp: regexPattern(false),
  iregexp: regexPattern(true),
  starts_with: twoTexts,
  ends_with: twoTexts,
  contains: twoTexts,
  lower: textual,
  upper: textual,
  length: fixed(['text'], 'number'),
  concat: several('text', 'text', 1),
  substr: fixed(['text', 'number', 'number'], 'text', 2),
  contains_all: lists,
  contains_any: lists,
  size,
  add: several('number', 'number', 2),
  sub: arithmetic,
  mul: several('number', 'number', 2),
  div: arithmetic,
  mod: arithmetic,
  abs: numeric,
  round: numeric,
  floor: numeric,
  ceil: numeric,
  now: fixed([], 'number'),
  ts: fixed(['text'], 'number'),
  trunc: truncation,
  year: numeric,
  month: numeric,
  day: numeric,
  hour: numeric,
  if: choice,
  coalesce,
  count: counting,
  count_distinct: anyOne('number'),
  sum: numeric,
  avg: numeric,
  min: extreme,
  max: extreme,
};
