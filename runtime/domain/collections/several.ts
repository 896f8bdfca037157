/** Helpers for writing several entities at once. */
import { DuplicateError, InvalidFieldError, OutdatedChangeError } from '../errors.ts';
import type { Input } from './definition.ts';

/** Runs `action` for one entity of a list; its errors name the field with the index before it. */
export async function at<T>(index: number, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof InvalidFieldError)
      throw new InvalidFieldError(error.entity, `${index}.${error.field}`, error.reason, error.found);
    if (error instanceof OutdatedChangeError)
      throw new OutdatedChangeError(error.entity, `${index}.${error.field}`, error.base, error.current);
    if (error instanceof DuplicateError)
      throw new DuplicateError(error.entity, `${index}.${error.field}`, { cause: error });
    throw error;
  }
}

/** Indexes of the entities in order, but with referenced entities first. A loop is cut at some point. */
export function referredFirst(entities: readonly Input[], reference: string | undefined): readonly number[] {
  const indexes = entities.keys();
  if (reference === undefined) return [...indexes];
  const byId = new Map(entities.map((entity, index) => [entity['id'], index]));
  const order = new Set<number>();
  for (const index of indexes) {
    const chain: number[] = [];
    let next: number | undefined = index;
    while (next !== undefined && !order.has(next) && !chain.includes(next)) {
      chain.push(next);
      const referred: unknown = entities[next]?.[reference];
      // An entity without id cannot be referenced.
      next = typeof referred === 'string' ? byId.get(referred) : undefined;
    }
    for (const each of chain.toReversed()) order.add(each);
  }
  return [...order];
}
