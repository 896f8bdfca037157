/** Selects and shapes the events of a subscription. */
import { type Static, Type } from 'typebox';
import { filteredChange, MODEL_EVENTS, type NodeEvent, type Sight } from '../../runtime/events/index.ts';
import { ExpressionParser, parseFilter, toPredicate } from '../../runtime/model/index.ts';
import { shaper } from '../collection/shape.ts';

/** Seconds. */
export const MAX_EXPIRES = 3_600;

const Names = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 64 });

/** The selection of a subscription (decisions, "subscribe"). */
export const SelectionFields = {
  id: Type.Optional(Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_.-]+$' })),
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
const Selection = Type.Object(SelectionFields);
export type Selection = Static<typeof Selection>;

const OWN_CALLS = '/user/sip/calls';

/** The path whose GET permission is required for the events of a class. */
function pathOf({ class: name, data }: NodeEvent): string {
  if (name === 'modelevents') return `/model/${typeof data['classname'] === 'string' ? data['classname'] : ''}`;
  if (name === 'confevents') return '/uc/conferences';
  return name === 'callevents' || name === 'ccsevents' || name === 'asrevents' ? '/uc/calls' : `/api/events/${name}`;
}

/**
 * Compiles a selection to a function from an event to the subscriber's form of it, or to undefined.
 *
 * - `events`: `class` or `class.type`; absent: all
 * - `objects`: values of `dialogid`, `inviteid`, `connectionid`, `confid` or `id` in the data; absent: all
 * - `classpath`: of model changes, the class or a section of classes
 * - `exargs.filter` is tested on the data, `exargs.mask` picks from them; of model changes both are about the entity
 *
 * Events that `allows` refuses are left out: it checks the GET permission for their path. Events of a user's own calls need
 * only the own path.
 *
 * @throws BadParameterError for an invalid filter
 */
export function selector(allows: (path: string) => boolean, userId: string, selection: Selection): Sight {
  const isOwn = ({ users }: NodeEvent): boolean => users?.includes(userId) === true && allows(OWN_CALLS);
  return { select: sharedSelect(selection), allows: (event) => allows(pathOf(event)) || isOwn(event) };
}

type Select = Sight['select'];

const MAX_SHARED = 1_000;
const shared = new Map<string, Select>();

/** Equal for selections of the same events. */
export function selectionKey({ events, objects, classpath, exargs }: Selection): string {
  return JSON.stringify([events, objects, classpath, exargs?.mask, exargs?.filter]);
}

/** Equal subscriptions share the work: each event is filtered and masked once for all of them. */
function sharedSelect(selection: Selection): Select {
  const key = selectionKey(selection);
  const known = shared.get(key);
  if (known !== undefined) return known;
  const select = latest(compiled(selection));
  // `now` is the time of the subscription.
  if (/now/i.test(key)) return select;
  // Earlier subscriptions keep their function.
  if (shared.size >= MAX_SHARED) shared.clear();
  shared.set(key, select);
  return select;
}

/** Caches the result of the latest event. */
function latest(select: Select): Select {
  let [event, result]: [NodeEvent | undefined, NodeEvent | undefined] = [undefined, undefined];
  return (next) => {
    if (next !== event) [event, result] = [next, select(next)];
    return result;
  };
}

function compiled({ events, objects, classpath, exargs }: Selection): Select {
  const names = events === undefined ? undefined : new Set(events);
  const ids = objects === undefined ? undefined : new Set<unknown>(objects);
  // The data of events have no fixed fields: each is JSON.
  const parser = new ExpressionParser({ fields: { get: () => 'json' }, now: Date.now() });
  const keep = exargs?.filter === undefined ? undefined : toPredicate(parseFilter(parser, exargs.filter));
  return (event) => {
    const { class: name, type, data } = event;
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
  return shaper(Object.keys(data), {}, { mask })(data) as NodeEvent['data'];
}

const OBJECT_KEYS = ['dialogid', 'inviteid', 'connectionid', 'confid', 'id'] as const;

function isBelow(classname: unknown, path: string): boolean {
  return typeof classname === 'string' && (classname === path || classname.startsWith(`${path}/`));
}
