/** The parameters `aggr` and `groupby`: named results, one row for each group. */
import { sql } from '../../storage/sql.ts';
import { BadParameterError } from '../errors.ts';
import { FilterError } from './errors.ts';
import type { Expression, ValueType } from './expression.ts';
import { type Fragment, join } from './fragment.ts';
import { isAggregate } from './functions.ts';
import type { ExpressionParser } from './parser.ts';
import { type Item, toFunction } from './to-predicate.ts';
import type { SqlCompiler } from './to-sql.ts';
import { canonical, compareText, isObject } from './values.ts';

export interface Grouping {
  readonly groups: readonly Named[];
  readonly results: readonly Named[];
}

interface Named {
  readonly name: string;
  readonly expression: Expression;
}

const MAX_NAMES = 32;

/** @returns undefined when neither parameter is given. @throws FilterError */
export function parseGrouping(parser: ExpressionParser, aggr: unknown, groupby: unknown): Grouping | undefined {
  if (aggr === undefined && groupby === undefined) return undefined;
  const groups = parseNamed(groupby, 'groupby', (input, path) =>
    typeof input === 'string' ? parser.property(input.split('.'), path) : parser.parse(input, path),
  );
  const results = parseNamed(aggr, 'aggr', (input, path) => parser.parse(input, path, 'aggregating'));
  const twice = results.find(({ name }) => groups.some((group) => group.name === name));
  if (twice !== undefined) throw new FilterError(`aggr.${twice.name}`, 'has the name of a group');
  if (groups.length + results.length === 0) throw new FilterError('aggr', 'asks for nothing');
  return { groups, results };
}

function parseNamed(
  input: unknown,
  parameter: string,
  parse: (input: unknown, path: string) => Expression,
): readonly Named[] {
  if (input === undefined) return [];
  if (!isObject(input)) throw new BadParameterError(parameter, 'must be an object {"name": expression}');
  const entries = Object.entries(input);
  if (entries.length > MAX_NAMES) throw new BadParameterError(parameter, `has more than ${MAX_NAMES} names`);
  return entries.map(([name, each]) => ({ name, expression: parse(each, `${parameter}.${name.slice(0, 64)}`) }));
}

/** Names and types of what a row of the result holds, for its order. */
export function resultTypes({ groups, results }: Grouping): ReadonlyMap<string, ValueType> {
  return new Map([...groups, ...results].map(({ name, expression }) => [name, expression.type]));
}

/** One row a group with columns `g0, g1 ...` and `r0, r1 ...`: names of results are the caller's, and stay outside SQL. */
export function groupingToSql(
  { groups, results }: Grouping,
  compiler: SqlCompiler,
  source: Fragment,
): { readonly query: Fragment; readonly columns: ReadonlyMap<string, string> } {
  const columns = new Map<string, string>();
  const select = [groups, results].flatMap((list, kind) =>
    list.map(({ name, expression }, index) => {
      const column = `${kind === 0 ? 'g' : 'r'}${index}`;
      columns.set(name, column);
      return sql`${compiler.value(expression)} as ${sql.id(column)}`;
    }),
  );
  // By position: the same expression twice would be different parameters.
  const positions = groups.map((_, index) => sql.raw(String(index + 1)));
  const groupBy = positions.length === 0 ? sql`` : sql`group by ${sql.join(positions)}`;
  return { query: sql`select ${sql.join(select)} ${source} ${groupBy}`, columns };
}

/** The same in memory, in no particular order. */
export function groupItems({ groups, results }: Grouping, items: Iterable<Item>): Item[] {
  const keys = groups.map(({ name, expression }) => ({ name, evaluate: toFunction(expression) }));
  const found = new Map<string, { readonly group: Record<string, unknown>; readonly members: Item[] }>();
  if (groups.length === 0) found.set('', { group: {}, members: [] });
  for (const item of items) {
    const values = keys.map(({ evaluate }) => evaluate(item));
    const key = values.map(canonical).join();
    const known = found.get(key);
    if (known !== undefined) known.members.push(item);
    else
      found.set(key, {
        group: Object.fromEntries(keys.map(({ name }, index) => [name, values[index]])),
        members: [item],
      });
  }
  return Array.from(found.values(), ({ group, members }) => {
    const row: Record<string, unknown> = { ...group };
    for (const { name, expression } of results) row[name] = toFunction(resolve(expression, members))({});
    return row;
  });
}

/** The expression with its aggregates computed. */
function resolve(expression: Expression, members: readonly Item[]): Expression {
  if (expression.kind === 'cast') return { ...expression, value: resolve(expression.value, members) };
  if (expression.kind !== 'call') return expression;
  const { name, args, type } = expression;
  if (!isAggregate(name)) return { ...expression, args: args.map((arg) => resolve(arg, members)) };
  const [arg] = args;
  const values = arg === undefined ? members : evaluateAll(arg, members);
  if (name === 'count') return { kind: 'const', type, value: values.length };
  if (name === 'count_distinct') return { kind: 'const', type, value: new Set(values.map(canonical)).size };
  return { kind: 'const', type, value: values.length === 0 ? null : reduce(name, values) };
}

function evaluateAll(arg: Expression, members: readonly Item[]): readonly unknown[] {
  const evaluate = toFunction(arg);
  return members.map(evaluate).filter((value) => value !== null);
}

function reduce(name: 'sum' | 'avg' | 'min' | 'max', values: readonly unknown[]): unknown {
  if (name === 'sum' || name === 'avg') {
    const sum = values.reduce((total: number, value) => total + Number(value), 0);
    return name === 'sum' ? sum : sum / values.length;
  }
  const sign = name === 'min' ? 1 : -1;
  return values.reduce((best, value) => (compare(value, best) * sign < 0 ? value : best));
}

function compare(a: unknown, b: unknown): number {
  return typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : Number(a) - Number(b);
}

/** All conditions of a query, or `true`. */
export function allOf(conditions: readonly Fragment[]): Fragment {
  return conditions.length === 0 ? sql`true` : join(conditions, sql` and `);
}
