import { type Static, Type } from 'typebox';
import { badParameter } from '../errors.ts';
import { parseOrder, sortBy } from './order.ts';
import { shaper } from './shape.ts';

/** Query parameters of a single read. */
export const ReadQuery = Type.Object({
  mask: Type.Optional(Type.String({ description: 'Comma-separated field names, composite fields also by dotted key' })),
  flat: Type.Optional(Type.Boolean({ description: 'Nested objects as first-level dotted keys' })),
});

/** Query parameters of a list (specification, "GET collection query parameters"). */
export const ListQuery = Type.Object({
  ...ReadQuery.properties,
  filter: Type.Optional(Type.String({ description: 'JSON' })),
  order: Type.Optional(Type.String({ description: 'JSON array of field names and {field: "asc" | "desc"}' })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
  limit: Type.Optional(Type.Integer({ minimum: 0, description: '0 answers the number of items found' })),
  countonly: Type.Optional(Type.Boolean({ description: 'Only the number of items found' })),
});

export const Count = Type.Object({ count: Type.Integer() });

/** What the list engine knows of a type of resource. */
export interface ResourceType {
  /** Names of the fields, in the order in which they are answered. */
  readonly fields: readonly string[];
  /** Other names for them in mask, filter and order. */
  readonly aliases: Readonly<Record<string, string>>;
}

/**
 * Answers a list from items in memory: the page, or `{count}` for `limit=0` and `countonly`.
 *
 * @throws {RestError} 400/1400 when a parameter cannot be understood
 */
export function answerList(type: ResourceType, items: readonly object[], query: Static<typeof ListQuery>): object {
  if (query.filter !== undefined) throw badParameter('filter', 'cannot be applied to this collection');
  const order = query.order === undefined ? [] : parseOrder(query.order, type.aliases);
  if (query.countonly || query.limit === 0) return { count: items.length };
  const { offset = 0, limit = items.length } = query;
  const shape = shaper(type.fields, type.aliases, query);
  return sortBy(items, order)
    .slice(offset, offset + limit)
    .map(shape);
}

/** One resource in the form that mask and flat ask for. */
export function answerRead(type: ResourceType, item: object, query: Static<typeof ReadQuery>): object {
  return shaper(type.fields, type.aliases, query)(item);
}
