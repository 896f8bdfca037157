/** The parameter `order`: field names, `{field: "asc" | "desc"}`, `["asc" | "desc", expression]`; later entries break ties. */
import { sql } from '../../storage/index.ts';
import { convert } from './convert.ts';
import { FilterError } from './errors.ts';
import { type Expression, isList } from './expression.ts';
import type { Fragment } from './fragment.ts';
import type { ExpressionParser } from './parser.ts';
import { type Item, toFunction } from './to-predicate.ts';
import type { SqlCompiler } from './to-sql.ts';
import { compareText } from './values.ts';

export interface OrderEntry {
  readonly expression: Expression;
  readonly descending: boolean;
}

const MAX_ENTRIES = 16;

/** @throws FilterError */
export function parseOrder(parser: ExpressionParser, input: unknown, path = 'order'): readonly OrderEntry[] {
  if (!Array.isArray(input)) throw new FilterError(path, 'must be an array such as ["name", {"ts": "desc"}]');
  const entries = isDirection(input[0]) && Array.isArray(input[1]) ? [input] : input;
  if (entries.length > MAX_ENTRIES) throw new FilterError(path, `has more than ${MAX_ENTRIES} entries`);
  return entries.flatMap((entry, index) => parseEntry(parser, entry, `${path}[${index}]`));
}

function parseEntry(parser: ExpressionParser, entry: unknown, path: string): readonly OrderEntry[] {
  if (typeof entry === 'string') return sortable(parser.property(entry.split('.'), path), false, path);
  if (Array.isArray(entry)) {
    const [direction, expression, ...rest] = entry as unknown[];
    if (!isDirection(direction)) return sortable(parser.parse(entry, path), false, path);
    if (expression === undefined || rest.length > 0) throw new FilterError(path, `${direction} takes 1 argument`);
    const descending = direction.toLowerCase() === 'desc';
    const inner = `${path}[1]`;
    if (typeof expression === 'string')
      return sortable(parser.property(expression.split('.'), inner), descending, inner);
    return sortable(parser.parse(expression, inner), descending, inner);
  }
  if (typeof entry !== 'object' || entry === null) {
    throw new FilterError(path, 'must be a field name, {"field": "asc"} or ["asc", expression]');
  }
  return Object.entries(entry).flatMap(([name, direction]: [string, unknown]) => {
    const inner = `${path}.${name.slice(0, 64)}`;
    if (!isDirection(direction)) throw new FilterError(inner, 'must be "asc" or "desc"');
    return sortable(parser.property(name.split('.'), inner), direction.toLowerCase() === 'desc', inner);
  });
}

function isDirection(value: unknown): value is string {
  return typeof value === 'string' && /^(?:asc|desc)$/i.test(value);
}

/** JSON sorts numbers before texts before everything else. */
function sortable(expression: Expression, descending: boolean, path: string): readonly OrderEntry[] {
  if (isList(expression.type)) throw new FilterError(path, 'must not be a list: lists have no order');
  if (expression.type !== 'json') return [{ expression, descending }];
  return (['number', 'text'] as const).map((type) => ({ expression: convert(expression, type, path), descending }));
}

/** Terms of ORDER BY; null sorts last, with `desc` first. */
export function orderToSql(compiler: SqlCompiler, entries: readonly OrderEntry[]): readonly Fragment[] {
  return entries.map(({ expression, descending }) => {
    // A literal is a parameter here, so ORDER BY does not take it for a column position.
    const value = compiler.sortKey(expression);
    return descending ? sql`${value} desc` : sql`${value} asc`;
  });
}

/** The order of the entries, then of the id. */
export interface Sorter {
  readonly keysOf: (item: Item) => readonly unknown[];
  readonly compare: (a: readonly unknown[], b: readonly unknown[]) => number;
  /** Whether an item comes before the one with these keys; finds no more of its keys than this needs. */
  readonly isBefore: (item: Item, keys: readonly unknown[]) => boolean;
}

export function sorter(entries: readonly OrderEntry[]): Sorter {
  const directions = [...entries.map(({ descending }) => (descending ? -1 : 1)), 1];
  const keys = [...entries.map(({ expression }) => toFunction(expression)), (item: Item) => item['id'] ?? null];
  return {
    keysOf: (item) => keys.map((key) => key(item)),
    compare(a, b) {
      for (let index = 0; index < directions.length; index += 1) {
        const order = compareValues(a[index], b[index]) * (directions[index] ?? 1);
        if (order !== 0) return order;
      }
      return 0;
    },
    isBefore(item, others) {
      for (let index = 0; index < directions.length; index += 1) {
        const order = compareValues(keys[index]?.(item), others[index]) * (directions[index] ?? 1);
        if (order !== 0) return order < 0;
      }
      return false;
    },
  };
}

/** Sorts items by the entries, then by id. The item objects are reused. */
export function sortItems<T extends Item>(items: readonly T[], entries: readonly OrderEntry[]): T[] {
  const { keysOf, compare } = sorter(entries);
  return items
    .map((item) => ({ item, keys: keysOf(item) }))
    .toSorted((a, b) => compare(a.keys, b.keys))
    .map(({ item }) => item);
}

/** Compares values of one type; null sorts last. */
export function compareValues(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
  if (b === null || b === undefined) return -1;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  return Number(a) - Number(b);
}
