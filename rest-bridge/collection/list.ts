/** Lists: filter, order, pages, and the form of items. */
import { type Static, Type } from 'typebox';
import {
  type Expression,
  ExpressionParser,
  type FieldTypes,
  First,
  type OrderEntry,
  parseFilter,
  parseOrder,
  sortItems,
  toPredicate,
} from '../../runtime/model/index.ts';
import { badParameter } from '../errors.ts';
import { shaper } from './shape.ts';

/** Query parameters of a single read. */
export const ReadQuery = Type.Object({
  mask: Type.Optional(Type.String({ description: 'Comma-separated field names, composite fields also by dotted key' })),
  flat: Type.Optional(Type.Boolean({ description: 'Nested objects as first-level dotted keys' })),
});

/** Query parameters of a list (specification, "GET collection query parameters"). */
export const ListQuery = Type.Object({
  ...ReadQuery.properties,
  filter: Type.Optional(Type.String({ description: 'JSON: {field: condition}, or a prefix-notation array' })),
  order: Type.Optional(Type.String({ description: 'JSON array of field names and {field: "asc" | "desc"}' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: '0 answers the number of items found' }),
  ),
  countonly: Type.Optional(Type.Boolean({ description: 'Only the number of items found' })),
  export: Type.Optional(
    Type.Boolean({ description: 'Entities in a form that can be posted back; calls and the like stay as they are' }),
  ),
});

export const Count = Type.Object({ count: Type.Integer() });

/** Description of a type of resource for lists. */
export interface ResourceType {
  /** Names of the fields, in the order in which they are answered. */
  readonly fields: readonly string[];
  /** Other names for them in mask, filter and order. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Types of the fields, for filter and order. */
  readonly types: FieldTypes;
}

type Item = Readonly<Record<string, unknown>>;

/** The requested part of a list, with parsed expressions. */
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

/** True when only the number of items is requested. */
export function wantsCount({ countonly, limit }: Static<typeof ListQuery>): boolean {
  return countonly === true || limit === 0;
}

/**
 * Reads the parameters of a list.
 *
 * @throws {RestError} 400/1400 for an invalid parameter
 * @throws BadParameterError for an invalid expression
 */
export function selectionOf({ aliases, types }: ResourceType, query: Static<typeof ListQuery>): Selection {
  const { filter, order, offset = 0, limit } = query;
  const used = new Set<string>();
  const known = {
    get: (name: string) => {
      const field = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
      if (field !== undefined) used.add(name);
      return types.get(field ?? name);
    },
  };
  const context = { fields: known, now: Date.now() };
  return {
    filter: filter === undefined ? undefined : parseFilter(new ExpressionParser(context), json('filter', filter)),
    order: order === undefined ? undefined : parseOrder(new ExpressionParser(context), json('order', order)),
    offset,
    limit,
    aliases: used,
  };
}

/**
 * Answers a list from items in memory: the page, or `{count}` for `limit=0` and `countonly`.
 *
 * @param form converts each item before mask and flat; filter and order apply to the item itself
 * @throws as {@link selectionOf}
 */
export function answerList(
  type: ResourceType,
  items: readonly object[],
  query: Static<typeof ListQuery>,
  form: (item: object) => object = (item) => item,
): object {
  const selection = selectionOf(type, query);
  const found = select(type, items, selection);
  if (wantsCount(query)) return { count: found.length };
  const { order, offset, limit = found.length } = selection;
  const last = Math.min(offset + limit, found.length);
  const page = (order === undefined ? found : inOrder(found, order, last)).slice(offset, last);
  return answerPage(type, page.map(form), query);
}

/** The items of a page, shaped by mask and flat. */
export function answerPage(
  type: ResourceType,
  items: readonly object[],
  query: Static<typeof ReadQuery>,
): readonly object[] {
  return items.map(shaper(type.fields, type.aliases, query));
}

/** One resource, shaped by mask and flat. */
export function answerRead(type: ResourceType, item: object, query: Static<typeof ReadQuery>): object {
  return shaper(type.fields, type.aliases, query)(item);
}

/** The items that match the filter, unsorted. */
function select(type: ResourceType, items: readonly object[], { filter, aliases }: Selection): readonly Item[] {
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

function json(field: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw badParameter(field, 'is not JSON');
  }
}
