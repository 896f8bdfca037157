/** Lists: filter, order, pages, and the form of items. */
import { type Static, Type } from 'typebox';
import {
  countOf,
  type ListType,
  pageOf,
  type Pages,
  type PageWish,
  type Selection,
  selectionOf as selectionIn,
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
export interface ResourceType extends ListType {
  /** Names of the fields, in the order in which they are answered. */
  readonly fields: readonly string[];
  /** Of these, the ones that are answered only where the mask names them. */
  readonly masked?: readonly string[];
}

export type { Selection };

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
export function selectionOf(type: ResourceType, query: Static<typeof ListQuery>): Selection {
  return selectionIn(type, wishOf(query));
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
  const wish = wishOf(query);
  if (wantsCount(query)) return { count: countOf(type, items, wish) };
  return answerPage(type, pageOf(type, items, wish).map(form), query);
}

/**
 * Answers a list of which each node of a cluster may have a part.
 *
 * @throws as {@link selectionOf}, and errors of the list
 */
export async function answerPages<Scope>(
  type: ResourceType,
  pages: Pages<Scope>,
  scope: Scope,
  query: Static<typeof ListQuery>,
): Promise<object> {
  const wish = wishOf(query);
  if (wantsCount(query)) return { count: await pages.count(scope, wish) };
  return answerPage(type, await pages.page(scope, wish), query);
}

/**
 * The wanted part of a list.
 *
 * @throws {RestError} 400/1400 for what is not JSON
 */
export function wishOf({ filter, order, offset = 0, limit }: Static<typeof ListQuery>): PageWish {
  return {
    ...(filter !== undefined && { filter: json('filter', filter) }),
    ...(order !== undefined && { order: json('order', order) }),
    offset,
    ...(limit !== undefined && { limit }),
    now: Date.now(),
  };
}

/** The items of a page, shaped by mask and flat. */
export function answerPage(
  type: ResourceType,
  items: readonly object[],
  query: Static<typeof ReadQuery>,
): readonly object[] {
  return items.map(shaper(type, query));
}

/** One resource, shaped by mask and flat. */
export function answerRead(type: ResourceType, item: object, query: Static<typeof ReadQuery>): object {
  return shaper(type, query)(item);
}

function json(field: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw badParameter(field, 'is not JSON');
  }
}
