/** The whole result of a query in small batches: a reader gets the first while later ones are computed. */
import type { ListQuery } from '../model.ts';
import type { Entity } from '../fields.ts';
import type { ParsedQuery } from '../query.ts';
import { findAll, matches } from './memory-query.ts';
import type { MemoryStore } from './memory-store.ts';

const BATCH = 512;

/**
 * The shaped entities from the query's offset to its limit. Without an order they come by id: nothing is sorted, and
 * the first batch is available at once.
 */
export function whole(
  store: MemoryStore,
  parsed: ParsedQuery,
  { limit = Infinity, order }: ListQuery,
): AsyncIterable<readonly Readonly<Record<string, unknown>>[]> {
  const found = order === undefined ? matches(store, parsed.filter) : batched(() => findAll(store, parsed));
  return cut(found, parsed.offset, parsed.offset + limit, parsed.shape);
}

async function* batched(find: () => Promise<readonly Entity[]>): AsyncGenerator<readonly Entity[]> {
  const all = await find();
  for (let from = 0; from < all.length; from += BATCH) yield all.slice(from, from + BATCH);
}

/** The shaped items from `offset` to `end`. */
async function* cut<T>(
  batches: AsyncIterable<readonly Entity[]>,
  offset: number,
  end: number,
  shape: (entity: Entity) => T,
): AsyncGenerator<readonly T[]> {
  let count = 0;
  for await (const batch of batches) {
    const wanted = batch.slice(Math.max(0, offset - count), Math.max(0, end - count));
    count += batch.length;
    if (wanted.length > 0) yield wanted.map(shape);
    if (count >= end) return;
  }
}
