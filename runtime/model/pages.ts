/** Pages of lists of live items: filter, order, and the part between two positions. */
import { type Expression, ExpressionParser, type FieldTypes, parseFilter } from './filter/index.ts';
import { First } from './filter/first.ts';
import { type OrderEntry, parseOrder, sortItems } from './filter/order.ts';
import { type Item, toPredicate } from './filter/to-predicate.ts';

/** What filter and order may name. */
export interface ListType {
  /** Other names for fields. */
  readonly aliases: Readonly<Record<string, string>>;
  readonly types: FieldTypes;
}

/** The wanted part of a list, in JSON. */
export interface PageWish {
  readonly filter?: unknown;
  readonly order?: unknown;
  readonly offset: number;
  /** Absent: all. */
  readonly limit?: number;
  /** The time for functions of the filter, milliseconds since the epoch. */
  readonly now: number;
}

/** The wanted part of a list, with parsed expressions. */
export interface Selection {
  readonly filter: Expression | undefined;
  /** Undefined: unsorted. */
  readonly order: readonly OrderEntry[] | undefined;
  readonly offset: number;
  /** Undefined: all. */
  readonly limit: number | undefined;
  /** Other names of fields that filter or order use. */
  readonly aliases: ReadonlySet<string>;
}

/** Pages of one list. @throws FilterError, and errors of the list */
export interface Pages<Scope> {
  page(scope: Scope, wish: PageWish): Promise<readonly object[]>;
  count(scope: Scope, wish: PageWish): Promise<number>;
}

/** Pages of a list that is in the memory of this node. */
export function localPages<Scope>(
  type: ListType,
  list: (scope: Scope) => readonly object[] | Promise<readonly object[]>,
): Pages<Scope> {
  return {
    page: async (scope, wish) => pageOf(type, await list(scope), wish),
    count: async (scope, wish) => countOf(type, await list(scope), wish),
  };
}

/** @throws FilterError */
export function selectionOf({ aliases, types }: ListType, wish: PageWish): Selection {
  const { filter, order, offset, limit, now } = wish;
  const used = new Set<string>();
  const known = {
    get: (name: string) => {
      const field = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
      if (field !== undefined) used.add(name);
      return types.get(field ?? name);
    },
  };
  const context = { fields: known, now };
  return {
    filter: filter === undefined ? undefined : parseFilter(new ExpressionParser(context), filter),
    order: order === undefined ? undefined : parseOrder(new ExpressionParser(context), order),
    offset,
    limit,
    aliases: used,
  };
}

/** @throws FilterError */
export function pageOf(type: ListType, items: readonly object[], wish: PageWish): readonly object[] {
  const selection = selectionOf(type, wish);
  const found = select(type, items, selection);
  const { order, offset, limit = found.length } = selection;
  const last = Math.min(offset + limit, found.length);
  return (order === undefined ? found : inOrder(found, order, last)).slice(offset, last);
}

/** @throws FilterError */
export function countOf(type: ListType, items: readonly object[], wish: PageWish): number {
  return select(type, items, selectionOf(type, wish)).length;
}

/** The items that match the filter, unsorted. */
function select(type: ListType, items: readonly object[], { filter, aliases }: Selection): readonly Item[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an entity is JSON
  const entities = items as readonly Item[];
  // Only for an expression with an alias, because it copies each item.
  const used = Object.entries(type.aliases).filter(([alias]) => aliases.has(alias));
  const named = used.length === 0 ? entities : entities.map((item) => withAliases(item, used));
  return filter === undefined ? named : named.filter(toPredicate(filter));
}

/** The first items in the requested order. */
function inOrder(items: readonly Item[], order: readonly OrderEntry[], size: number): readonly Item[] {
  if (size * 2 > items.length) return sortItems(items, order);
  const first = new First<Item>(order, size);
  for (const item of items) first.add(item);
  return first.items();
}

function withAliases(fields: Item, aliases: readonly (readonly [alias: string, name: string])[]): Item {
  return { ...fields, ...Object.fromEntries(aliases.map(([alias, name]) => [alias, fields[name]])) };
}
