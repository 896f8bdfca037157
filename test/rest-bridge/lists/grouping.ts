/** Random `aggr` and `groupby`, and what they answer, written from the specification alone. */
import type { Random } from '../../model/support/random.ts';
import type { Kind } from './generator.ts';
import { canonical, compareText, evaluate, type Row } from './reference.ts';

export interface Grouping {
  readonly aggr?: Readonly<Record<string, unknown>>;
  readonly groupby?: Readonly<Record<string, unknown>>;
}

/** Where the expressions come from. */
interface Expressions {
  condition(depth: number): unknown;
  amount(): unknown;
  property(...kinds: readonly Kind[]): unknown;
  path(...kinds: readonly Kind[]): string;
}

/** Any text may be the name of a result. */
const NAMES = ['n', 'sum of all', 'Größe', 'a.b', 'a', 'order', "x'); --", 'constructor', 'id', '😀', 'r0'];

export interface RandomGrouping extends Grouping {
  /** Names of results whose values have an order. */
  readonly sortable: readonly string[];
  /** The groups have an order in which they come when no other is asked for. */
  readonly isOrdered: boolean;
}

export function randomGrouping(random: Random, expressions: Expressions): RandomGrouping {
  const names = NAMES.toSorted(() => random.next() - 0.5);
  const isOrdered = random.chance(0.8);
  const groups = Array.from({ length: random.below(3) }, () => [
    names.pop() ?? '',
    isOrdered ? plainGroup(random, expressions) : anyGroup(random, expressions),
  ]);
  const least = groups.length === 0 ? 1 : 0;
  const results = Array.from({ length: least + random.below(4) }, () => [
    names.pop() ?? '',
    aggregate(random, expressions, 2),
  ]);
  return {
    ...(groups.length > 0 && { groupby: fromEntries(groups) }),
    ...(results.length > 0 && { aggr: fromEntries(results) }),
    sortable: [...(isOrdered ? groups : []), ...results].map(([name]) => String(name)),
    isOrdered: isOrdered || groups.length === 0,
  };
}

function fromEntries(entries: readonly unknown[][]): Record<string, unknown> {
  return Object.fromEntries(entries as [string, unknown][]);
}

function plainGroup(random: Random, from: Expressions): unknown {
  return random.pick<() => unknown>([
    () => from.path('text', 'number', 'boolean'),
    () => from.property('text', 'number', 'boolean'),
    () => ['lower', from.property('text')],
    () => ['length', from.property('text')],
    () => ['mod', ['floor', from.property('number')], 3],
    () => from.amount(),
    () => from.condition(1),
    () => ['coalesce', from.property('text'), 'none'],
    () => [random.pick(['year', 'month', 'day', 'hour']), from.property('number')],
    () => ['trunc', 'day', from.property('number')],
  ])();
}

function anyGroup(random: Random, from: Expressions): unknown {
  return random.chance(0.5) ? from.path('json') : from.path('texts', 'numbers');
}

function aggregate(random: Random, from: Expressions, depth: number): unknown {
  const inner = (): unknown => aggregateOfNumbers(random, from, depth - 1);
  return random.pick<() => unknown>([
    () => [random.pick(['min', 'max']), random.chance(0.5) ? from.property('text') : from.amount()],
    () => ['concat', ['lower', ['min', from.property('text')]], '!'],
    inner,
    inner,
    inner,
  ])();
}

function aggregateOfNumbers(random: Random, from: Expressions, depth: number): unknown {
  const inner = (): unknown => aggregateOfNumbers(random, from, depth - 1);
  const plain: (() => unknown)[] = [
    () => ['count'],
    () => ['count', from.property('text', 'number', 'boolean', 'texts', 'json')],
    () => ['COUNT_DISTINCT', from.property('text', 'number', 'boolean', 'texts', 'json')],
    () => [random.pick(['sum', 'avg', 'min', 'max']), from.amount()],
    () => ['sum', ['if', from.condition(1), 1, 0]],
  ];
  const nested: (() => unknown)[] = [
    () => [random.pick(['+', 'sub', 'mul', 'div']), inner(), random.pick([0, 1, 2, 4])],
    () => [random.pick(['round', 'floor', 'abs']), inner()],
    () => ['if', ['>', inner(), 2], inner(), -1],
    () => ['coalesce', inner(), 0],
  ];
  return random.pick(depth > 0 && random.chance(0.4) ? nested : plain)();
}

/** One row a group. Without `groupby` one, whatever there is. */
export function grouped(rows: readonly Row[], { aggr = {}, groupby = {} }: Grouping): Row[] {
  const keys = Object.entries(groupby).map(([name, of]): [string, (row: Row) => unknown] => [
    name,
    (row) => evaluate(typeof of === 'string' ? ['property', of] : of, row),
  ]);
  const groups = new Map<string, { readonly key: [string, unknown][]; readonly rows: Row[] }>();
  if (keys.length === 0) groups.set('', { key: [], rows: [...rows] });
  for (const row of keys.length === 0 ? [] : rows) {
    const key = keys.map(([name, of]): [string, unknown] => [name, of(row)]);
    const id = canonical(key);
    const group = groups.get(id) ?? { key, rows: [] };
    groups.set(id, group);
    group.rows.push(row);
  }
  return Array.from(groups.values(), (group) => {
    const results = Object.entries(aggr).map(([name, of]): [string, unknown] => [name, computed(of, group.rows)]);
    return Object.fromEntries([...group.key, ...results]);
  });
}

const AGGREGATES: Readonly<Record<string, (values: readonly unknown[]) => unknown>> = {
  count: (values) => values.length,
  count_distinct: (values) => new Set(values.map(canonical)).size,
  sum: (values) => (values.length === 0 ? null : sum(values)),
  avg: (values) => (values.length === 0 ? null : sum(values) / values.length),
  min: (values) => values.toSorted(compare)[0] ?? null,
  max: (values) => values.toSorted(compare).at(-1) ?? null,
};

const sum = (values: readonly unknown[]): number => values.reduce<number>((all, value) => all + Number(value), 0);

function compare(a: unknown, b: unknown): number {
  return typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : Number(a) - Number(b);
}

/** The expression with its aggregates computed. Null counts for nothing. */
function computed(expression: unknown, rows: readonly Row[]): unknown {
  return evaluate(withResults(expression, rows), {});
}

function withResults(expression: unknown, rows: readonly Row[]): unknown {
  if (!Array.isArray(expression)) return expression;
  const [name, ...args] = expression as [string, ...unknown[]];
  const apply = AGGREGATES[name.toLowerCase()];
  if (apply === undefined) return [name, ...args.map((arg) => withResults(arg, rows))];
  const values = args.length === 0 ? rows.map(() => true) : rows.map((row) => evaluate(args[0], row));
  return ['const', apply(values.filter((value) => value !== null))];
}
