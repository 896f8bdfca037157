/** The data model of a simulation. */
import { ScenarioError, type Value } from '../../language/index.ts';
import type { Entity, EntityQuery, ModelPort } from '../../runs/index.ts';

/** Entities by the name of their class. */
export type Fixtures = Readonly<Record<string, readonly Readonly<Record<string, Value>>[]>>;

/** Selects and sorts the entities of a query like a node's data model, without paging. */
export type SelectEntities = (
  entities: readonly Entity[],
  query: Pick<EntityQuery, 'filter' | 'order'>,
) => readonly Entity[];

/** Entities in memory, for a simulation. Every class exists, without declared properties. */
export class SimulatedModel implements ModelPort {
  readonly #classes = new Map<string, Map<string, Entity>>();
  readonly #select: SelectEntities;
  #created = 0;

  constructor(fixtures: Fixtures = {}, select: SelectEntities = byValues) {
    this.#select = select;
    for (const [classname, entities] of Object.entries(fixtures))
      for (const entity of entities) this.#put(classname, entity);
  }

  /** All entities of a class, in the order of their creation. */
  entities(classname: string): readonly Entity[] {
    return [...this.#of(classname).values()];
  }

  async read(_: string, classname: string, id: string): Promise<Entity | undefined> {
    return this.#of(classname).get(id);
  }

  async list(_: string, classname: string, { filter, order, limit, offset }: EntityQuery): Promise<readonly Entity[]> {
    const query = { ...(filter === undefined ? {} : { filter }), ...(order === undefined ? {} : { order }) };
    return this.#select(this.entities(classname), query).slice(offset, offset + limit);
  }

  async create(_: string, classname: string, entity: Entity): Promise<Entity> {
    return this.#put(classname, entity);
  }

  async update(_: string, classname: string, id: string, change: Entity): Promise<Entity | undefined> {
    const entity = this.#of(classname).get(id);
    if (!entity) return undefined;
    const changed = { ...entity, ...change };
    this.#of(classname).set(id, changed);
    return changed;
  }

  async remove(_: string, classname: string, id: string): Promise<boolean> {
    return this.#of(classname).delete(id);
  }

  #put(classname: string, entity: Readonly<Record<string, Value>>): Entity {
    this.#created += 1;
    const created = { id: `${classname}-${this.#created}`, ...entity } as Entity & { readonly id: string };
    this.#of(classname).set(created.id, created);
    return created;
  }

  #of(classname: string): Map<string, Entity> {
    const entities = this.#classes.get(classname) ?? new Map<string, Entity>();
    this.#classes.set(classname, entities);
    return entities;
  }
}

/** A filter by equal properties, given as an object; other filters need the data model. */
function byValues(entities: readonly Entity[], { filter }: Pick<EntityQuery, 'filter'>): readonly Entity[] {
  if (filter === undefined) return entities;
  if (filter === null || typeof filter !== 'object' || Array.isArray(filter))
    throw new ScenarioError('unavailable', 'this simulation filters by an object of properties only');
  const wanted = Object.entries(filter as Readonly<Record<string, Value>>);
  return entities.filter((entity) => wanted.every(([name, value]) => entity[name] === value));
}
