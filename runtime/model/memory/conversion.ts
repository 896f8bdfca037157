/** Entities in memory as their class wants them. */
import type { ResolvedClass } from '../class-definition.ts';
import { makeEntity } from '../entity.ts';
import { CannotApplyError, InvalidFieldError } from '../errors.ts';
import { canonical } from '../filter/values.ts';
import type { Entity } from '../fields.ts';
import { valueTypeOf } from '../query.ts';
import type { IndexedProperty } from './memory-store.ts';

/** Types of values without an order. */
const UNSORTED = /^json$|\[\]$/;

/** The properties by which the entities of a class are found. */
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
 * Entities as the class wants them that takes the place of theirs: without the properties that it has no more.
 * @param now milliseconds since the epoch
 * @throws CannotApplyError when one does not fit
 */
export function convertedTo(next: ResolvedClass, entities: Iterable<Entity>, now: number): readonly Entity[] {
  const convert = converter(next, now);
  return Array.from(entities, convert);
}

/** @throws CannotApplyError when two entities have the same value of a property that is unique in the class */
export function checkUnique({ allProperties }: ResolvedClass, entities: readonly Entity[]): void {
  for (const { name, unique } of allProperties) {
    if (!unique) continue;
    const values = entities.map((entity) => entity[name] ?? null).filter((value) => value !== null);
    if (new Set(values.map(canonical)).size === values.length) continue;
    throw new CannotApplyError(`properties.${name}.unique`, 'cannot be: there are entities with the same value', true);
  }
}

/** Those that fit, as `convertedTo` makes them. */
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

/** Makes an entity one that nobody can change: readers get what is kept. */
export function freeze(entity: Entity): Entity {
  for (const value of Object.values(entity)) freezeDeep(value);
  return Object.freeze(entity);
}

function freezeDeep(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const item of Object.values(value)) freezeDeep(item);
}

/** What is wrong with an entity that is there is wrong with the change of its class. */
function fitting<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof InvalidFieldError)) throw error;
    const { field, reason, found } = error;
    throw new CannotApplyError(`properties.${field}`, `does not fit the data: ${reason}`, found, { cause: error });
  }
}
