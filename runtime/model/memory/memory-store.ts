/** Stores the entities of one class in memory, indexed by id, property and end of lifetime. */
import { ConflictError } from '../errors.ts';
import { canonical } from '../filter/values.ts';
import type { Entity } from '../fields.ts';
import { SortedEntities, type SortedView } from './sorted-entities.ts';

export interface IndexedProperty {
  readonly name: string;
  readonly unique: boolean;
  /** True when its values have an order. */
  readonly sorted: boolean;
}

type Ids = Map<string, Set<string>>;

interface Index {
  readonly unique: boolean;
  readonly ids: Ids;
  readonly order: SortedEntities | undefined;
}

/** Entities are frozen and replaced, never changed: a reader keeps the version it read. */
export class MemoryStore {
  readonly #entities = new Map<string, Entity>();
  #byId = new SortedEntities('id');
  #indexes: ReadonlyMap<string, Index>;

  constructor(properties: readonly IndexedProperty[]) {
    this.#indexes = emptyIndexes(properties);
  }

  get size(): number {
    return this.#entities.size;
  }

  get(id: string): Entity | undefined {
    return this.#entities.get(id);
  }

  values(): Iterable<Entity> {
    return this.#entities.values();
  }

  /** Ids of the entities with this value; undefined when the property has no index. */
  find(property: string, value: unknown): ReadonlySet<string> | undefined {
    const index = this.#indexes.get(property);
    return index === undefined ? undefined : (index.ids.get(canonical(value)) ?? NONE);
  }

  /** A view of the entities ordered by a property; undefined without such an index. The id always has one. */
  view(property: string): SortedView | undefined {
    return (property === 'id' ? this.#byId : this.#indexes.get(property)?.order)?.view();
  }

  /**
   * Adds or replaces an entity.
   *
   * @param unchecked temporarily permits two entities with one unique value
   * @throws ConflictError when another entity has one of its unique values
   */
  put(entity: Entity, { unchecked = false }: { readonly unchecked?: boolean } = {}): void {
    for (const [property, { unique, ids }] of unchecked ? [] : this.#indexes) {
      const value = entity[property];
      if (!unique || value === null) continue;
      const holder = ids.get(canonical(value))?.values().next().value;
      if (holder !== undefined && holder !== entity.id) throw new ConflictError(property);
    }
    this.#forget(entity.id);
    this.#entities.set(entity.id, entity);
    this.#index(entity);
  }

  /** Adds new entities, all or none. @throws ConflictError with the index of the entity before the field */
  addAll(entities: readonly Entity[]): void {
    for (const [index, entity] of entities.entries()) {
      try {
        if (this.#entities.has(entity.id)) throw new ConflictError('id');
        this.put(entity);
      } catch (error) {
        for (const { id } of entities.slice(0, index)) this.remove(id);
        throw error instanceof ConflictError ? new ConflictError(`${index}.${error.field}`, { cause: error }) : error;
      }
    }
  }

  remove(id: string): boolean {
    this.#forget(id);
    return this.#entities.delete(id);
  }

  clear(): void {
    this.#entities.clear();
    this.#byId.clear();
    for (const { ids, order } of this.#indexes.values()) {
      ids.clear();
      order?.clear();
    }
  }

  /** Replaces all entities by converted ones; their unique values are already checked. */
  rebuild(properties: readonly IndexedProperty[], entities: readonly Entity[]): void {
    const trial = new MemoryStore(properties);
    for (const entity of entities) trial.put(entity, { unchecked: true });
    this.#indexes = trial.#indexes;
    this.#byId = trial.#byId;
    for (const entity of entities) this.#entities.set(entity.id, entity);
  }

  #index(entity: Entity): void {
    this.#byId.add(entity);
    for (const [property, { ids, order }] of this.#indexes) {
      order?.add(entity);
      const value = entity[property];
      if (value === null || value === undefined) continue;
      const key = canonical(value);
      const known = ids.get(key);
      if (known === undefined) ids.set(key, new Set([entity.id]));
      else known.add(entity.id);
    }
  }

  #forget(id: string): void {
    const entity = this.#entities.get(id);
    if (entity === undefined) return;
    this.#byId.remove(entity);
    for (const [property, { ids, order }] of this.#indexes) {
      order?.remove(entity);
      const key = canonical(entity[property]);
      const known = ids.get(key);
      known?.delete(id);
      if (known?.size === 0) ids.delete(key);
    }
  }
}

const NONE: ReadonlySet<string> = new Set();

function emptyIndexes(properties: readonly IndexedProperty[]): ReadonlyMap<string, Index> {
  return new Map(
    properties.map(({ name, unique, sorted }) => [
      name,
      { unique, ids: new Map(), order: sorted ? new SortedEntities(name) : undefined },
    ]),
  );
}
