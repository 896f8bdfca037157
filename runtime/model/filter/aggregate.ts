/** The parameters `aggr` and `groupby`: named results, one row per group. */
import { sql } from '../../storage/index.ts';
import { BadParameterError } from '../errors.ts';
import { FilterError } from './errors.ts';
import type { Expression, ValueType } from './expression.ts';
import { type Fragment, join } from './fragment.ts';
import { type AggregateName, isAggregate } from './functions.ts';
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
  const plain = results.find(({ expression }) => !aggregates(expression));
  if (plain !== undefined) {
    const path = `aggr.${plain.name.slice(0, 64)}`;
    throw new FilterError(path, 'aggregates nothing: write ["count"], or ["sum", ["property", "NAME"]] and the like');
  }
  const twice = results.find(({ name }) => groups.some((group) => group.name === name));
  if (twice !== undefined) throw new FilterError(`aggr.${twice.name}`, 'has the name of a group');
  if (groups.length + results.length === 0) throw new FilterError('aggr', 'names no result, and groupby no group');
  return { groups, results };
}

/** True when the expression contains an aggregate. */
function aggregates(expression: Expression): boolean {
  if (expression.kind === 'cast') return aggregates(expression.value);
  return expression.kind === 'call' && (isAggregate(expression.name) || expression.args.some(aggregates));
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
  // As in bodies, `__proto__` is not accepted as a key.
  if (Object.hasOwn(input, '__proto__')) throw new BadParameterError(parameter, 'has the name "__proto__"');
  return entries.map(([name, each]) => ({ name, expression: parse(each, `${parameter}.${name.slice(0, 64)}`) }));
}

/** Names and types of a result row's columns, for its order. */
export function resultTypes({ groups, results }: Grouping): ReadonlyMap<string, ValueType> {
  return new Map([...groups, ...results].map(({ name, expression }) => [name, expression.type]));
}

/**
 * Selects one row per group, with columns `g0, g1 ...` and `r0, r1 ...`: result names are user input and stay out of
 * SQL.
 */
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
  // By position: repeated expressions would have different parameters.
  const positions = groups.map((_, index) => sql.raw(String(index + 1)));
  const groupBy = positions.length === 0 ? sql`` : sql`group by ${sql.join(positions)}`;
  return { query: sql`select ${sql.join(select)} ${source} ${groupBy}`, columns };
}

/** The same in memory, item by item. */
export class Grouper {
  readonly #grouping: Grouping;
  readonly #keys: readonly { readonly name: string; readonly evaluate: (item: Item) => unknown }[];
  readonly #groups = new Map<string, { readonly group: Item; readonly results: readonly Tallied[] }>();

  constructor(grouping: Grouping) {
    this.#grouping = grouping;
    this.#keys = grouping.groups.map(({ name, expression }) => ({ name, evaluate: toFunction(expression) }));
    // Without groups there is one row, even over no items.
    if (grouping.groups.length === 0) this.#groupOf([]);
  }

  add(item: Item): void {
    const { results } = this.#groupOf(this.#keys.map(({ evaluate }) => evaluate(item)));
    for (const { tallies } of results) for (const tally of tallies) tally.add(item);
  }

  /** One row per group, unordered. */
  rows(): Item[] {
    return Array.from(this.#groups.values(), ({ group, results }) => {
      const row: Record<string, unknown> = { ...group };
      for (const { name, value } of results) row[name] = toFunction(value())({});
      return row;
    });
  }

  #groupOf(values: readonly unknown[]): { readonly results: readonly Tallied[] } {
    const key = values.map(canonical).join();
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const made = {
      group: Object.fromEntries(this.#keys.map(({ name }, index) => [name, values[index]])),
      results: this.#grouping.results.map(({ name, expression }) => {
        const tallies: Tally[] = [];
        return { name, value: tallied(expression, tallies), tallies };
      }),
    };
    this.#groups.set(key, made);
    return made;
  }
}

/** One aggregate of one group. */
interface Tally {
  add(item: Item): void;
}

interface Tallied {
  readonly name: string;
  readonly tallies: readonly Tally[];
  /** The expression with its aggregates replaced by their results. */
  readonly value: () => Expression;
}

/** @param tallies one for each aggregate in the expression */
function tallied(expression: Expression, tallies: Tally[]): () => Expression {
  if (expression.kind === 'cast') {
    const inner = tallied(expression.value, tallies);
    return () => ({ ...expression, value: inner() });
  }
  if (expression.kind !== 'call') return () => expression;
  const { name, args, type } = expression;
  if (!isAggregate(name)) {
    const inner = args.map((arg) => tallied(arg, tallies));
    return () => ({ ...expression, args: inner.map((each) => each()) });
  }
  const [arg] = args;
  const tally = TALLIES[name](arg === undefined ? () => true : toFunction(arg));
  tallies.push(tally);
  return () => ({ kind: 'const', type, value: tally.result() });
}

interface Counting extends Tally {
  result(): unknown;
}

/** Null values are ignored. */
const TALLIES: Readonly<Record<AggregateName, (evaluate: (item: Item) => unknown) => Counting>> = {
  count(evaluate) {
    let count = 0;
    return { add: (item) => void (count += evaluate(item) === null ? 0 : 1), result: () => count };
  },
  count_distinct(evaluate) {
    const values = new Set<string>();
    return {
      add(item) {
        const value = evaluate(item);
        if (value !== null) values.add(canonical(value));
      },
      result: () => values.size,
    };
  },
  sum: (evaluate) => summing(evaluate, (sum) => sum),
  avg: (evaluate) => summing(evaluate, (sum, count) => sum / count),
  min: (evaluate) => extreme(evaluate, 1),
  max: (evaluate) => extreme(evaluate, -1),
};

function summing(evaluate: (item: Item) => unknown, result: (sum: number, count: number) => number): Counting {
  let [sum, count] = [0, 0];
  return {
    add(item) {
      const value = evaluate(item);
      if (value === null) return;
      sum += Number(value);
      count += 1;
    },
    result() {
      // As PostgreSQL does.
      if (!Number.isFinite(sum)) throw new BadParameterError('aggr', 'computes a number that is out of range');
      return count === 0 ? null : result(sum, count);
    },
  };
}

function extreme(evaluate: (item: Item) => unknown, sign: 1 | -1): Counting {
  let best: unknown = null;
  return {
    add(item) {
      const value = evaluate(item);
      if (value !== null && (best === null || compare(value, best) * sign < 0)) best = value;
    },
    result: () => best,
  };
}

function compare(a: unknown, b: unknown): number {
  return typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : Number(a) - Number(b);
}

/** The conjunction of all conditions of a query; `true` without conditions. */
export function allOf(conditions: readonly Fragment[]): Fragment {
  return conditions.length === 0 ? sql`true` : join(conditions, sql` and `);
}
