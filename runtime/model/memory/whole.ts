/** All that a query means, in parts that are quickly made: a reader takes the first while the rest is looked for. */
import type { ListQuery } from '../model.ts';
import type { Entity } from '../fields.ts';
import type { ParsedQuery } from '../query.ts';
import { findAll, matches } from './memory-query.ts';
import type { MemoryStore } from './memory-store.ts';

const BATCH = 512;

/**
 * The entities from the offset of the query to its limit, in their form. In order of id, if no other is asked for, there is
 * nothing to sort, and the first are there at once.
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

/** The items from `offset` to `end`, in their form. */
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
