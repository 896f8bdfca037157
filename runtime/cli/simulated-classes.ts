/** The classes of a domain for simulations and tests: of a file, or of a node. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ofModel } from '../component-registry/index.ts';
import { ClassRules, type Entity as ModelEntity, ModelError } from '../model/index.ts';
import { plainText } from '../language/index.ts';
import type { Entity, EntityQuery } from '../runs/index.ts';
import type { ClassesFor, SimulatedClasses } from '../workbench/index.ts';
import { ask, tokenFor } from './node-access.ts';

/** Read when no classes are named: beside the scenarios. */
const FILE = 'classes.json';

/**
 * @param from a file, or the URL of a node; undefined: `classes.json` beside the scenarios, where there is one
 * @returns throws TypeError when the classes cannot be read
 */
export function classesFrom(from: string | undefined): ClassesFor {
  if (from === undefined) return (folder) => ofFile(path.join(folder, FILE), true);
  let found: Promise<SimulatedClasses | undefined> | undefined;
  return () => (found ??= /^https?:/.test(from) ? ofNode(from) : ofFile(from, false));
}

async function ofFile(file: string, mayLack: boolean): Promise<SimulatedClasses | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (mayLack && (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new TypeError(`${file} cannot be read`, { cause: error });
  }
  return read(path.basename(file), () => JSON.parse(text) as unknown);
}

async function ofNode(url: string): Promise<SimulatedClasses> {
  const base = `${url.replace(/\/$/, '')}/rest/v1`;
  const token = await tokenFor(base, undefined);
  const response = await ask(`${base}/domain/classes?export=true`, { headers: { authorization: `Bearer ${token}` } });
  const answer: unknown = await response.json();
  if (!response.ok) throw new TypeError(`${url} answered ${response.status} when asked for its classes`);
  return read(url, () => answer);
}

/** @throws TypeError */
function read(source: string, list: () => unknown): SimulatedClasses {
  try {
    return new Classes(source, ClassRules.read(list()));
  } catch (error) {
    if (!(error instanceof ModelError || error instanceof SyntaxError)) throw error;
    throw new TypeError(`${source}: ${error.message}`, { cause: error });
  }
}

/** Entities of a simulation are plain values, as JSON has them. */
class Classes implements SimulatedClasses {
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
