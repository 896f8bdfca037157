/** Changes of the data model as events (decisions, "model change"). */
import type { DomainName } from '../domain-name/index.ts';
import type { EventBus, EventValue } from './event-bus.ts';

export const MODEL_EVENTS = 'modelevents';
export const DATA_CHANGED = 'data_changed';

type EntityData = Readonly<Record<string, EventValue>>;

/** A change from the data model; `domain` is an id. */
export interface ModelChangeNotice {
  readonly domain: string;
  readonly classname: string;
  readonly operation: 'create' | 'update' | 'delete' | 'clear' | 'reload';
  readonly id?: string | undefined;
  readonly before?: object | undefined;
  readonly after?: object | undefined;
  /** Another node wrote it. */
  readonly elsewhere?: true | undefined;
}

/**
 * Makes the listener that publishes changes as `modelevents.data_changed`.
 *
 * @param domainName of an id; undefined for a removed domain, whose changes are not published
 */
export function modelEvents(
  bus: EventBus,
  domainName: (id: string) => DomainName | undefined,
): (change: ModelChangeNotice) => void {
  return ({ domain: domainId, classname, operation, id, before, after, elsewhere }) => {
    const domain = domainName(domainId);
    if (domain === undefined) return;
    const entity = after ?? before;
    const data = {
      classname,
      operation,
      ...(id !== undefined && { id }),
      ...(entity !== undefined && { entity: entity as EntityData }),
    };
    bus.publish({
      domain,
      class: MODEL_EVENTS,
      type: DATA_CHANGED,
      data,
      ...(before !== undefined && { before: before as EntityData }),
      ...(elsewhere && { elsewhere }),
    });
  };
}

/**
 * A change seen through a subscriber's filter, which is tested on the entity before and after. An entity that enters
 * the filter is created for the subscriber, one that leaves it is deleted.
 *
 * @param before undefined when unknown
 * @returns undefined when the entity matches neither before nor after
 */
export function filteredChange(
  data: Readonly<Record<string, EventValue>>,
  before: EntityData | undefined,
  keep: (entity: EntityData) => boolean,
): Readonly<Record<string, EventValue>> | undefined {
  const { operation, entity } = data;
  // A change of the class as a whole.
  if (operation === 'clear' || operation === 'reload') return data;
  const now = isEntity(entity) && keep(entity);
  if (operation !== 'update') return now ? data : undefined;
  // The former entity may have matched: a needless event does no harm.
  const was = before === undefined || keep(before);
  if (now) return was ? data : { ...data, operation: 'create' };
  return was ? { ...data, operation: 'delete', entity: before ?? null } : undefined;
}

function isEntity(value: EventValue | undefined): value is EntityData {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
