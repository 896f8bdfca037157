/** The classes of a domain as a simulation has them. */
import { plainText } from '../language/index.ts';
import { ClassRules, type Entity as ModelEntity, ModelError } from '../model/index.ts';
import type { Entity, EntityQuery } from '../runs/index.ts';
import { ofModel } from './model-errors.ts';

/**
 * @param source where they are from, for messages
 * @param list settings of classes, as `GET /domain/classes?export=true` answers them
 * @throws InvalidFieldError; its field begins with the name of the class
 */
export function domainClasses(source: string, list: unknown): DomainClasses {
  return new DomainClasses(source, ClassRules.read(list));
}

/** Entities of a simulation are plain values, as JSON has them. */
class DomainClasses {
  readonly source: string;
  readonly names: readonly string[];
  readonly #rules: ClassRules;

  constructor(source: string, rules: ClassRules) {
    this.source = source;
    this.#rules = rules;
    this.names = rules.names;
  }

  expect(classname: string): void {
    scenarioErrors(() => this.#rules.expect(classname));
  }

  create(classname: string, entity: Entity, others: Iterable<Entity>, now: number): Entity {
    return scenarioErrors(() => this.#rules.create(classname, entity, made(others), now)) as Entity;
  }

  update(classname: string, before: Entity, change: Entity, others: Iterable<Entity>, now: number): Entity {
    return scenarioErrors(() => this.#rules.update(classname, whole(before), change, made(others), now)) as Entity;
  }

  list(classname: string, entities: readonly Entity[], query: EntityQuery, now: number): readonly Entity[] {
    const { order = [], ...rest } = query;
    // A node is not asked for an empty order.
    const asked = order.length === 0 ? rest : { ...rest, order };
    return scenarioErrors(() => this.#rules.list(classname, made(entities), asked, now)) as readonly Entity[];
  }
}

function made(entities: Iterable<Entity>): readonly ModelEntity[] {
  return Array.from(entities, whole);
}

/** Every entity of a simulation has an id. */
function whole(entity: Entity): ModelEntity {
  return { ...entity, id: plainText(entity['id'] ?? '') };
}

/** @throws ScenarioError as a node does */
function scenarioErrors<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof ModelError ? ofModel(error) : error;
  }
}
