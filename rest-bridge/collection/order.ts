import { badParameter } from '../errors.ts';

export interface OrderEntry {
  /** Path of the field. */
  readonly path: readonly string[];
  readonly descending: boolean;
}

/**
 * Reads the query parameter `order`: a JSON array of field names and `{field: "asc" | "desc"}` objects; later fields
 * break ties.
 *
 * @param aliases other names for fields
 * @throws {RestError} 400/1400
 */
export function parseOrder(text: string, aliases: Readonly<Record<string, string>>): readonly OrderEntry[] {
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    throw badParameter('order', 'is not JSON; write for example ["startts"] or [{"startts":"desc"}]');
  }
  if (!Array.isArray(entries)) throw badParameter('order', 'is not an array');
  return entries.flatMap((entry) => parseEntry(entry, aliases));
}

function parseEntry(entry: unknown, aliases: Readonly<Record<string, string>>): OrderEntry[] {
  if (typeof entry === 'string') return [field(entry, false, aliases)];
  if (Array.isArray(entry)) return [parseExpression(entry, aliases)];
  if (typeof entry !== 'object' || entry === null) {
    throw badParameter(
      'order',
      'an entry is neither a field name, {"field": "asc" | "desc"} nor ["asc" | "desc", field]',
    );
  }
  return Object.entries(entry).map(([name, direction]) => {
    if (direction !== 'asc' && direction !== 'desc')
      throw badParameter('order', `${name}: the direction is asc or desc`);
    return field(name, direction === 'desc', aliases);
  });
}

/** `["desc", "name"]` or `["desc", ["property", "name"]]`. */
function parseExpression(entry: readonly unknown[], aliases: Readonly<Record<string, string>>): OrderEntry {
  const [direction, operand] = entry as readonly unknown[];
  const name: unknown = Array.isArray(operand) && PROPERTY.has(operand[0]) ? operand[1] : operand;
  if ((direction !== 'asc' && direction !== 'desc') || typeof name !== 'string' || entry.length !== 2) {
    throw badParameter('order', 'an expression is ["asc" | "desc", field]');
  }
  return field(name, direction === 'desc', aliases);
}

const PROPERTY: ReadonlySet<unknown> = new Set(['property', 'prop', 'field']);

function field(name: string, descending: boolean, aliases: Readonly<Record<string, string>>): OrderEntry {
  const [first = '', ...rest] = name.split('.');
  return { path: [Object.hasOwn(aliases, first) ? (aliases[first] ?? first) : first, ...rest], descending };
}

/** A stable sort. Numbers by value, text by code unit; what is absent comes last in ascending order. */
export function sortBy<T extends object>(items: readonly T[], order: readonly OrderEntry[]): readonly T[] {
  if (order.length === 0) return items;
  return items.toSorted((a, b) => {
    for (const { path, descending } of order) {
      const result = compare(valueAt(a, path), valueAt(b, path));
      if (result !== 0) return descending ? -result : result;
    }
    return 0;
  });
}

function valueAt(item: object, path: readonly string[]): string | number | undefined {
  let value: unknown = item;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' || typeof value === 'string') return value;
  return JSON.stringify(value);
}

function compare(a: string | number | undefined, b: string | number | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : 1;
}
