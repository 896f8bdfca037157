/** Filters and order of the data model over entities whose classes are not known, such as those of a simulation. */
import { ScenarioError } from '../language/index.ts';
import type { Entity, EntityQuery } from '../runs/index.ts';
import {
  ExpressionParser,
  FilterError,
  parseFilter,
  parseOrder,
  sortItems,
  toPredicate,
  type ValueType,
} from '../model/index.ts';

/** @throws ScenarioError `model_refused` */
export function selectEntities(
  entities: readonly Entity[],
  { filter, order }: Pick<EntityQuery, 'filter' | 'order'>,
): readonly Entity[] {
  // Derives each class from its entities: their properties, with the type of the first value.
  const types = new Map<string, ValueType>();
  for (const entity of entities)
    for (const [name, value] of Object.entries(entity))
      if (value !== null && !types.has(name)) types.set(name, typeOf(value));
  const parser = new ExpressionParser({ fields: { get: (name) => types.get(name) ?? 'json' }, now: Date.now() });
  try {
    const kept = filter === undefined ? entities : entities.filter(toPredicate(parseFilter(parser, filter)));
    return order === undefined || order.length === 0 ? kept : sortItems(kept, parseOrder(parser, order));
  } catch (error) {
    if (error instanceof FilterError) throw new ScenarioError('model_refused', error.message, { cause: error });
    throw error;
  }
}

function typeOf(value: unknown): ValueType {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return 'text[]';
  return Array.isArray(value) && value.every((item) => typeof item === 'number') ? 'number[]' : 'json';
}
