/** Selects and shapes events: for subscriptions and for webhooks. */
import { type Static, Type } from 'typebox';
import { applyMask, ExpressionParser, parseFilter, parseMask, toPredicate } from '../model/index.ts';
import type { NodeEvent } from './event-bus.ts';
import { filteredChange, MODEL_EVENTS } from './model-events.ts';
import { isOnDemand } from './on-demand.ts';

const Names = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 64 });

/** What an event selection consists of (decisions, "subscribe"). */
export const SelectedFields = {
  events: Type.Optional(Names),
  objects: Type.Optional(Names),
  classpath: Type.Optional(Type.String({ maxLength: 256 })),
  exargs: Type.Optional(
    Type.Object(
      { mask: Type.Optional(Type.String({ maxLength: 4_096 })), filter: Type.Optional(Type.Unknown()) },
      { additionalProperties: false },
    ),
  ),
};
const Selected = Type.Object(SelectedFields);
export type Selected = Static<typeof Selected>;

/** The event in the form of the selection; undefined: not selected. */
export type Select = (event: NodeEvent) => NodeEvent | undefined;

const MAX_SHARED = 1_000;
const shared = new Map<string, Select>();

/** Equal for selections of the same events. */
export function selectionKey({ events, objects, classpath, exargs }: Selected): string {
  return JSON.stringify([events, objects, classpath, exargs?.mask, exargs?.filter]);
}

/**
 * Compiles a selection.
 *
 * - `events`: `class` or `class.type`; absent: all that are not published on demand
 * - `objects`: values of `dialogid`, `inviteid`, `connectionid`, `confid` or `id` in the data; absent: all
 * - `classpath`: of model changes, the class or a section of classes
 * - `exargs.filter` is tested on the data, `exargs.mask` picks from them; of model changes both are about the entity
 *
 * Equal selections share the work: each event is filtered and masked once for all of them.
 *
 * @param now milliseconds since the epoch: `now` of its filter
 * @throws FilterError for an invalid filter
 */
export function selectionOf(selection: Selected, now = Date.now()): Select {
  const key = selectionKey(selection);
  const known = shared.get(key);
  if (known !== undefined) return known;
  const select = latest(compiled(selection, now));
  // `now` is the time of the subscription.
  if (usesNow(selection)) return select;
  // Earlier selections keep their function.
  if (shared.size >= MAX_SHARED) shared.clear();
  shared.set(key, select);
  return select;
}

/** The same for a selection of long life: `now` in its filter is the time of each event. */
export function lastingSelectionOf(selection: Selected): Select {
  const select = selectionOf(selection);
  return usesNow(selection) ? (event) => compiled(selection, Date.now())(event) : select;
}

function usesNow(selection: Selected): boolean {
  return /now/i.test(selectionKey(selection));
}

/** Caches the result of the latest event. */
function latest(select: Select): Select {
  let [event, result]: [NodeEvent | undefined, NodeEvent | undefined] = [undefined, undefined];
  return (next) => {
    if (next !== event) [event, result] = [next, select(next)];
    return result;
  };
}

function compiled({ events, objects, classpath, exargs }: Selected, now: number): Select {
  const names = events === undefined ? undefined : new Set(events);
  const ids = objects === undefined ? undefined : new Set<unknown>(objects);
  // The data of events have no fixed fields: each is JSON.
  const parser = new ExpressionParser({ fields: { get: () => 'json' }, now });
  const keep = exargs?.filter === undefined ? undefined : toPredicate(parseFilter(parser, exargs.filter));
  return (event) => {
    const { class: name, type, data } = event;
    if (names === undefined && isOnDemand(name)) return undefined;
    if (names !== undefined && !names.has(name) && !names.has(`${name}.${type}`)) return undefined;
    if (ids !== undefined && !OBJECT_KEYS.some((key) => ids.has(data[key]))) return undefined;
    if (classpath !== undefined && !isBelow(data['classname'], classpath)) return undefined;
    if (name === MODEL_EVENTS) return modelChange(event, keep, exargs?.mask);
    if (keep !== undefined && !keep(data)) return undefined;
    return exargs?.mask === undefined ? event : { ...event, data: masked(data, exargs.mask) };
  };
}

/** Filter and mask of model changes apply to the entity. */
function modelChange(
  { before, ...event }: NodeEvent,
  keep: ((item: NodeEvent['data']) => boolean) | undefined,
  mask: string | undefined,
): NodeEvent | undefined {
  const data = keep === undefined ? event.data : filteredChange(event.data, before, keep);
  if (data === undefined) return undefined;
  const { entity } = data;
  if (mask === undefined || typeof entity !== 'object' || entity === null) return { ...event, data };
  return { ...event, data: { ...data, entity: masked(entity as NodeEvent['data'], mask) } };
}

function masked(data: NodeEvent['data'], mask: string): NodeEvent['data'] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a part of JSON is JSON
  return applyMask(data, parseMask(mask)) as NodeEvent['data'];
}

const OBJECT_KEYS = ['dialogid', 'inviteid', 'connectionid', 'confid', 'id'] as const;

function isBelow(classname: unknown, path: string): boolean {
  return typeof classname === 'string' && (classname === path || classname.startsWith(`${path}/`));
}
