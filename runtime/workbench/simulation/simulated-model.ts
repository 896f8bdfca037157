/** The data model of a simulation. */
import { plainText, ScenarioError, type Value } from '../../language/index.ts';
import type { Entity, EntityQuery, ModelPort } from '../../runs/index.ts';

/** Entities by the name of their class. */
export type Fixtures = Readonly<Record<string, readonly Readonly<Record<string, Value>>[]>>;

/** Selects and sorts the entities of a query like a node's data model, without paging. */
export type SelectEntities = (
  entities: readonly Entity[],
  query: Pick<EntityQuery, 'filter' | 'order'>,
) => readonly Entity[];

/** The classes of a domain, which make, change, find and refuse entities as a node does. All methods throw ScenarioErrors. */
export interface SimulatedClasses {
  readonly names: readonly string[];
  /** Where they are from, e.g. `classes.json`. */
  readonly source: string;
  /** @throws ScenarioError `model_unknown_class` */
  expect(classname: string): void;
  /** @param others the entities of the class */
  create(classname: string, entity: Entity, others: Iterable<Entity>, now: number): Entity;
  /** @param others the other entities of the class */
  update(classname: string, before: Entity, change: Entity, others: Iterable<Entity>, now: number): Entity;
  list(classname: string, entities: readonly Entity[], query: EntityQuery, now: number): readonly Entity[];
}

/** The classes for the scenarios of a folder; undefined without any. @throws TypeError for classes with mistakes */
export type ClassesFor = (folder: string) => Promise<SimulatedClasses | undefined>;

export interface SimulatedModelOptions {
  /** Evaluates filters without classes; default: equal properties only. */
  readonly select?: SelectEntities | undefined;
  /** Without them every class exists, and has any properties. */
  readonly classes?: SimulatedClasses | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Entities in memory, for a simulation. */
export class SimulatedModel implements ModelPort {
  readonly #entities = new Map<string, Map<string, Entity>>();
  readonly #select: SelectEntities;
  readonly #classes: SimulatedClasses | undefined;
  readonly #now: () => number;
  #created = 0;

  /** @throws ScenarioError when the classes refuse a fixture */
  constructor(fixtures: Fixtures = {}, { select = byValues, classes, now = Date.now }: SimulatedModelOptions = {}) {
    this.#select = select;
    this.#classes = classes;
    this.#now = now;
    for (const [classname, entities] of Object.entries(fixtures))
      for (const entity of entities) this.#put(classname, entity);
  }

  /** All entities of a class, in the order of their creation. */
  entities(classname: string): readonly Entity[] {
    return [...(this.#entities.get(classname)?.values() ?? [])];
  }

  async read(_: string, classname: string, id: string): Promise<Entity | undefined> {
    return this.#of(classname).get(own(id));
  }

  async list(_: string, classname: string, asked: EntityQuery): Promise<readonly Entity[]> {
    const entities = [...this.#of(classname).values()];
    if (this.#classes) return this.#classes.list(classname, entities, asked, this.#now());
    const { filter, order, limit, offset } = asked;
    const query = { ...(filter === undefined ? {} : { filter }), ...(order === undefined ? {} : { order }) };
    return this.#select(entities, query).slice(offset, offset + limit);
  }

  async create(_: string, classname: string, entity: Entity): Promise<Entity> {
    return this.#put(classname, entity);
  }

  async update(_: string, classname: string, asked: string, change: Entity): Promise<Entity | undefined> {
    const entities = this.#of(classname);
    const id = own(asked);
    const entity = entities.get(id);
    if (!entity) return undefined;
    const others = [...entities.values()].filter((each) => each !== entity);
    const changed = this.#classes?.update(classname, entity, change, others, this.#now()) ?? { ...entity, ...change };
    entities.set(id, changed);
    return changed;
  }

  async remove(_: string, classname: string, id: string): Promise<boolean> {
    return this.#of(classname).delete(own(id));
  }

  #put(classname: string, entity: Readonly<Record<string, Value>>): Entity {
    const entities = this.#of(classname);
    this.#created += 1;
    // An id of a node holds no `/`.
    const name = this.#classes ? classname.replaceAll('/', '-') : classname;
    const given = { id: `${name}-${this.#created}`, ...entity };
    const created = this.#classes?.create(classname, given, entities.values(), this.#now()) ?? given;
    entities.set(plainText(created['id'] ?? ''), created);
    return created;
  }

  /** @throws ScenarioError `model_unknown_class` */
  #of(classname: string): Map<string, Entity> {
    this.#classes?.expect(classname);
    const entities = this.#entities.get(classname) ?? new Map<string, Entity>();
    this.#entities.set(classname, entities);
    return entities;
  }
}

/** `2026-11-21/ID` names an entity of a history class. */
function own(id: string): string {
  return id.replace(/^\d{4}-\d\d-\d\d\//, '');
}

/** A filter by equal properties, given as an object; other filters need the data model. */
function byValues(entities: readonly Entity[], { filter }: Pick<EntityQuery, 'filter'>): readonly Entity[] {
  if (filter === undefined) return entities;
  if (filter === null || typeof filter !== 'object' || Array.isArray(filter))
    throw new ScenarioError('unavailable', 'this simulation filters by an object of properties only');
  const wanted = Object.entries(filter as Readonly<Record<string, Value>>);
  return entities.filter((entity) => wanted.every(([name, value]) => entity[name] === value));
}
