/** The data model as scenarios use it: every scenario sees the classes of its own domain. */
import type { DomainName } from '../../domain-name/index.ts';
import { ofModel } from '../../component-registry/index.ts';
import type { Value } from '../../language/index.ts';
import type { Entity, EntityQuery, ModelPort } from '../../runs/index.ts';
import {
  type Input,
  type Model,
  type ModelCollection,
  ModelError,
  NotFoundError,
  refuseBuiltInWrite,
} from '../../model/index.ts';

/**
 * Errors of the port are ScenarioErrors: `model_unknown_class`, `model_refused` (with `field` and `reason`) and
 * `model_conflict`.
 *
 * @param domainId id of a domain by its name; undefined for an unknown one
 */
export function modelPort(model: Model, domainId: (name: DomainName) => string | undefined): ModelPort {
  const on = async <T>(
    domain: DomainName,
    classname: string,
    act: (collection: ModelCollection) => Promise<T>,
  ): Promise<T> => {
    try {
      return await act(model.collection(domainId(domain) ?? '', classname));
    } catch (error) {
      throw error instanceof ModelError ? ofModel(error) : error;
    }
  };
  return {
    read: (domain, classname, id) =>
      on(domain, classname, (collection) => found(async () => shown(await collection.read(...placed(id))))),
    list: (domain, classname, { filter, order, interval, limit, offset }: EntityQuery) =>
      on(domain, classname, async (collection) => {
        const query = {
          limit,
          offset,
          ...(filter !== undefined && { filter }),
          ...(interval !== undefined && { interval }),
        };
        const list = await collection.list(order === undefined || order.length === 0 ? query : { ...query, order });
        // Only a limit of 0 counts entities, and the component's limit is at least 1.
        return 'count' in list ? [] : list.map(shown);
      }),
    create: (domain, classname, entity) =>
      on(domain, classname, async (collection) => shown(await writable(collection).create(entity))),
    update: (domain, classname, id, change) =>
      on(domain, classname, (collection) => {
        const [own, options] = placed(id);
        return found(async () => shown(await writable(collection).update(own, change as Input, options)));
      }),
    remove: (domain, classname, id) =>
      on(domain, classname, async (collection) => {
        const removed = await found(async () => {
          await writable(collection).remove(...placed(id));
          return true;
        });
        return removed === true;
      }),
  };
}

/** @throws CannotApplyError for the audit log */
function writable(collection: ModelCollection): ModelCollection {
  refuseBuiltInWrite(collection.definition);
  return collection;
}

/** `2026-11-21/ID` names an entity of a history class. */
function placed(id: string): [id: string, options: { readonly date?: string }] {
  const [, date, own] = /^(\d{4}-\d\d-\d\d)\/(.+)$/.exec(id) ?? [];
  return date === undefined || own === undefined ? [id, {}] : [own, { date }];
}

async function found<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof NotFoundError && error.entity === 'Entity') return undefined;
    throw error;
  }
}

/** Copies an entity for the scenario: those of memory classes are shared. */
function shown(entity: Readonly<Record<string, unknown>>): Entity {
  return structuredClone(entity) as Readonly<Record<string, Value>>;
}
