/** Converts entities in memory to a changed class. */
import type { ResolvedClass } from '../class-definition.ts';
import { makeEntity } from '../entity.ts';
import { CannotApplyError, InvalidFieldError } from '../errors.ts';
import { canonical } from '../filter/values.ts';
import type { Entity } from '../fields.ts';
import { valueTypeOf } from '../query.ts';
import type { IndexedProperty } from './memory-store.ts';

/** Types of values without an order. */
const UNSORTED = /^json$|\[\]$/;

/** The indexed properties of a class. */
export function indexed({ allProperties, opts }: ResolvedClass): readonly IndexedProperty[] {
  return allProperties
    .filter(
      ({ name, index, unique }) =>
        unique || opts.lookup_properties.includes(name) || (index !== false && index !== 'list'),
    )
    .map((property) => ({
      name: property.name,
      unique: property.unique,
      sorted: !valueTypeOf(property).match(UNSORTED),
    }));
}

/**
 * Converts entities to a changed class; removed properties are dropped.
 *
 * @param now milliseconds since the epoch
 * @throws CannotApplyError when an entity does not fit
 */
export function convertedTo(next: ResolvedClass, entities: Iterable<Entity>, now: number): readonly Entity[] {
  const convert = converter(next, now);
  return Array.from(entities, convert);
}

/** @throws CannotApplyError when two entities share a value of a unique property */
export function checkUnique({ allProperties }: ResolvedClass, entities: readonly Entity[]): void {
  for (const { name, unique } of allProperties) {
    if (!unique) continue;
    const values = entities.map((entity) => entity[name] ?? null).filter((value) => value !== null);
    if (new Set(values.map(canonical)).size === values.length) continue;
    throw new CannotApplyError(`properties.${name}.unique`, 'cannot be set: two entities have the same value', true);
  }
}

/** The entities that fit, converted like `convertedTo`. */
export function fittingOnes(next: ResolvedClass, entities: Iterable<Entity>, now: number): readonly Entity[] {
  const convert = converter(next, now);
  return Array.from(entities).flatMap((entity) => {
    try {
      return [convert(entity)];
    } catch (error) {
      if (error instanceof CannotApplyError) return [];
      throw error;
    }
  });
}

function converter(next: ResolvedClass, now: number): (entity: Entity) => Entity {
  const names = new Set(['id', ...next.allProperties.map(({ name }) => name)]);
  return (entity) => {
    const kept = Object.entries(entity).filter(([name, value]) => names.has(name) && value !== null);
    return freeze(fitting(() => makeEntity(next, Object.fromEntries(kept), undefined, { now, attachments: true })));
  };
}

/** Freezes an entity deeply: readers receive the stored object. */
export function freeze(entity: Entity): Entity {
  for (const value of Object.values(entity)) freezeDeep(value);
  return Object.freeze(entity);
}

function freezeDeep(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const item of Object.values(value)) freezeDeep(item);
}

/** Turns an error about an existing entity into an error about the change of its class. */
function fitting<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof InvalidFieldError)) throw error;
    const { field, reason, found } = error;
    throw new CannotApplyError(`properties.${field}`, `does not fit the data: ${reason}`, found, { cause: error });
  }
}
