/** Query parameters of the model collections (specification, "Dynamic data model", "List parameters"). */
import { type Static, Type } from 'typebox';
import type { ListQuery as ModelListQuery } from '../../runtime/model/index.ts';
import { ListQuery, ReadQuery } from '../collection/list.ts';
import { badParameter } from '../errors.ts';

/** Query parameters of every GET below `/model/`; their meaning depends on the path. */
export const ModelGetQuery = Type.Object({
  ...ListQuery.properties,
  ...ReadQuery.properties,
  interval: Type.Optional(
    Type.String({ description: 'JSON ["from", "to"], half-open; mandatory for history and transactionlog' }),
  ),
  aggr: Type.Optional(Type.String({ description: 'JSON {name: aggregating expression}' })),
  groupby: Type.Optional(Type.String({ description: 'JSON {name: field or expression}' })),
  format: Type.Optional(Type.Enum(['json', 'csv'], { description: 'Of a list; csv is RFC 4180, with a header' })),
  attachment: Type.Optional(
    Type.String({ description: 'Of a file: send it as an attachment under its original name' }),
  ),
  snapshot: Type.Optional(
    Type.String({ maxLength: 64, description: 'An id of your own for paging, or * for the whole set at once' }),
  ),
});

export const WriteQuery = Type.Object({
  append: Type.Optional(Type.Boolean({ description: 'Lists are appended to the present ones' })),
});

/** @throws RestError 400/1400 for invalid JSON */
export function listQuery(query: Static<typeof ModelGetQuery>, session: string): ModelListQuery {
  const { filter, order, interval, aggr, groupby, attachment: _attachment, format: _format, ...plain } = query;
  return {
    ...plain,
    session,
    ...json('filter', filter),
    ...json('order', order),
    ...json('interval', interval),
    ...json('aggr', aggr),
    ...json('groupby', groupby),
  };
}

function json<Name extends string>(name: Name, text: string | undefined): { [key in Name]?: unknown } {
  if (text === undefined) return {};
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed key loses its type
    return { [name]: JSON.parse(text) as unknown } as { [key in Name]?: unknown };
  } catch {
    throw badParameter(name, 'is not JSON');
  }
}
