/** Names of the functions and their synonyms (decisions, "Filter functions"). */

const SYNONYMS = {
  and: ['&&'],
  or: ['||'],
  not: ['!'],
  true: [],
  false: [],
  equal: ['==', '=', 'eq'],
  not_equal: ['!=', '<>', 'ne'],
  less: ['<', 'lt'],
  less_or_equal: ['<=', 'le', 'lte'],
  greater: ['>', 'gt'],
  greater_or_equal: ['>=', 'ge', 'gte'],
  between: [],
  in: ['one_of'],
  is_null: ['null'],
  is_empty: [],
  like: ['%'],
  ilike: [],
  regexp: ['match'],
  iregexp: [],
  starts_with: [],
  ends_with: [],
  contains: [],
  lower: [],
  upper: [],
  length: [],
  concat: [],
  substr: [],
  contains_all: ['includes'],
  contains_any: ['overlaps'],
  size: [],
  add: ['+'],
  sub: ['-'],
  mul: ['*'],
  div: ['/'],
  mod: [],
  abs: [],
  round: [],
  floor: [],
  ceil: [],
  now: [],
  ts: [],
  trunc: [],
  year: [],
  month: [],
  day: [],
  hour: [],
  if: [],
  coalesce: [],
  count: [],
  count_distinct: [],
  sum: [],
  avg: [],
  min: [],
  max: [],
} as const;

export type FunctionName = keyof typeof SYNONYMS;

export const FUNCTION_NAMES = Object.keys(SYNONYMS) as readonly FunctionName[];

export function synonymsOf(name: FunctionName): readonly string[] {
  return SYNONYMS[name];
}

export const AGGREGATES = ['count', 'count_distinct', 'sum', 'avg', 'min', 'max'] as const;
export type AggregateName = (typeof AGGREGATES)[number];

/** Comparisons: their operands may be null, their result is not. */
const COMPARISONS = [
  ...(['equal', 'not_equal', 'less', 'less_or_equal', 'greater', 'greater_or_equal', 'between', 'in'] as const),
  ...(['is_null', 'is_empty', 'like', 'ilike', 'regexp', 'iregexp', 'starts_with', 'ends_with'] as const),
  ...(['contains', 'contains_all', 'contains_any'] as const),
] as const;
export type ComparisonName = (typeof COMPARISONS)[number];

const LOGIC = ['and', 'or', 'not'] as const;
export type LogicName = (typeof LOGIC)[number];

/** Parsed as literals: no expression contains a call of them. */
export type LiteralName = 'true' | 'false' | 'now';

const BY_NAME: ReadonlyMap<string, FunctionName> = new Map(
  (Object.entries(SYNONYMS) as [FunctionName, readonly string[]][]).flatMap(([name, synonyms]) =>
    [name, ...synonyms].map((each) => [each, name] as const),
  ),
);

/** Notations that are not functions; parsed where they stand. */
export type FormName = 'property' | 'const' | 'list';
const FORMS: ReadonlyMap<string, FormName> = new Map([
  ['property', 'property'],
  ['prop', 'property'],
  ['field', 'property'],
  ['const', 'const'],
  ['value', 'const'],
  ['list', 'list'],
]);

/** The function with this name or synonym, in any case. */
export function functionNamed(name: string): FunctionName | undefined {
  return BY_NAME.get(name.toLowerCase());
}

export function formNamed(name: string): FormName | undefined {
  return FORMS.get(name.toLowerCase());
}

export function isAggregate(name: FunctionName): name is AggregateName {
  return (AGGREGATES as readonly string[]).includes(name);
}

export function isComparison(name: FunctionName): name is ComparisonName {
  return (COMPARISONS as readonly string[]).includes(name);
}

export function isLogic(name: FunctionName): name is LogicName {
  return (LOGIC as readonly string[]).includes(name);
}
