/** The rules of classes without a store: what a node would make, change, find and refuse. For tests of scenarios. */
import { randomUUID } from 'node:crypto';
import type { ClassDefinition, ResolvedClass } from './class-definition.ts';
import { isPartitioned, readClass } from './class-settings.ts';
import { isFields } from './check.ts';
import { makeEntity, patchEntity } from './entity.ts';
import { ConflictError, InvalidFieldError, NotFoundError } from './errors.ts';
import type { Entity, Input } from './fields.ts';
import { canonical, sortItems, toPredicate } from './filter/index.ts';
import type { ListQuery } from './model.ts';
import { parseQuery } from './query.ts';
import { resolveProperties, timeProperty } from './resolve-class.ts';

/** The classes of a domain. All methods throw NotFoundError for an unknown or abstract class. */
export class ClassRules {
  readonly #classes: ReadonlyMap<string, ResolvedClass>;

  private constructor(classes: readonly ResolvedClass[]) {
    this.#classes = new Map(classes.map((each) => [each.classname, each]));
  }

  /**
   * @param list settings of classes, as `GET /domain/classes?export=true` answers them; `id` and `domain_id` may be missing
   * @throws InvalidFieldError; its field begins with the name of the class
   */
  static read(list: unknown): ClassRules {
    if (!Array.isArray(list) || !list.every(isFields))
      throw new InvalidFieldError('', 'must be a list of classes', list);
    const given = list.map((each, index) =>
      named(each, () => readClass({ id: `class-${index + 1}`, domain_id: '', ...each, ext: {} })),
    );
    const byId = new Map(given.map((each) => [each.id, each]));
    return new ClassRules(given.map((each) => named(each, () => resolved(each, (id) => byId.get(id)))));
  }

  /** Names of the classes that have entities. */
  get names(): readonly string[] {
    return [...this.#classes.values()].filter((each) => each.storage_mode !== 'abstract').map((each) => each.classname);
  }

  /**
   * The new entity.
   * @param others the entities of the class
   * @param now milliseconds since the epoch
   * @throws InvalidFieldError, ConflictError
   */
  create(classname: string, input: Input, others: Iterable<Entity>, now: number): Entity {
    const definition = this.#class(classname);
    const given = { id: randomUUID(), ...input };
    return unique(definition, makeEntity(definition, given, undefined, { now, attachments: true }), others);
  }

  /**
   * The entity after a change.
   * @param others the other entities of the class
   * @throws InvalidFieldError, ConflictError
   */
  update(classname: string, before: Entity, input: Input, others: Iterable<Entity>, now: number): Entity {
    const definition = this.#class(classname);
    return unique(definition, patchEntity(definition, before, input, { now }), others);
  }

  /** The entities that a query finds. @throws BadParameterError */
  list(
    classname: string,
    entities: readonly Entity[],
    query: ListQuery,
    now: number,
  ): readonly Readonly<Record<string, unknown>>[] {
    const definition = this.#class(classname);
    const { filter, order, interval, offset, limit, shape } = parseQuery(definition, query, now);
    const matches = filter === undefined ? () => true : toPredicate(filter);
    const time = timeProperty(definition);
    const isThen = (entity: Entity): boolean => {
      const at = Number(entity[time]);
      return interval === undefined || (at >= interval.from && at < interval.to);
    };
    const found = entities.filter((entity) => isThen(entity) && matches(entity));
    const sorted = order.length === 0 ? found : sortItems(found, order);
    return sorted.slice(offset, offset + limit).map(shape);
  }

  /** @throws NotFoundError */
  expect(classname: string): void {
    this.#class(classname);
  }

  #class(classname: string): ResolvedClass {
    const found = this.#classes.get(classname);
    if (found === undefined || found.storage_mode === 'abstract') throw new NotFoundError('Class', classname);
    return found;
  }
}

function resolved(definition: ClassDefinition, byId: (id: string) => ClassDefinition | undefined): ResolvedClass {
  return { ...definition, allProperties: resolveProperties(definition, byId), version: 1 };
}

/** Puts the name of the class before the field of an error. */
function named<T>({ classname }: { readonly classname?: unknown }, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof InvalidFieldError)) throw error;
    throw new InvalidFieldError(`${String(classname)}: ${error.field}`, error.reason, error.found, { cause: error });
  }
}

/** @throws ConflictError for an id or a value of a unique property that another entity has */
function unique(definition: ResolvedClass, entity: Entity, others: Iterable<Entity>): Entity {
  const partitioned = isPartitioned(definition.storage_mode);
  const keys = ['id', ...definition.allProperties.flatMap(({ name, unique: isUnique }) => (isUnique ? [name] : []))];
  for (const other of partitioned ? [] : others)
    for (const key of keys) {
      const value = entity[key] ?? null;
      if (value !== null && canonical(value) === canonical(other[key] ?? null)) throw new ConflictError(key);
    }
  return entity;
}
