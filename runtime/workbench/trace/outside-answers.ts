import { isDeepStrictEqual } from 'node:util';
import { INTERRUPTED, type TraceEntry } from '../../runs/index.ts';
import type { Value } from '../../language/index.ts';

/** Minimum delay of an answer that the test repeats. */
export const LONG_MS = 1000;
/** Additional delay of an answer that came too late. */
const UNANSWERED_MS = 60_000;

/** Outside answers during a run, in the words of tests. */

export type Fields = Readonly<Record<string, Value>>;

/**
 * Outside answers by request; slow ones keep their delay.
 * @param component name of the component, or its prefix
 */
export function answered(
  trace: readonly TraceEntry[],
  component: string,
  answer: (fields: Fields) => Fields,
): Record<string, Fields | readonly Fields[]> {
  const found = new Map<string, Fields[]>();
  for (const entry of trace) {
    const { request, exit, result = {}, error, milliseconds = 0 } = entry;
    if (request === undefined || exit === undefined || !entry.component.startsWith(component)) continue;
    // The answer had not come yet.
    const took = exit === INTERRUPTED ? milliseconds + UNANSWERED_MS : milliseconds;
    const after = took < LONG_MS ? {} : { after: `${took}ms` };
    const given = { ...(error ? { error: error.code } : answer(result)), ...after };
    found.set(request, [...(found.get(request) ?? []), given]);
  }
  const shown = ([asked, given]: [string, Fields[]]): [string, Fields | Fields[]] => {
    const [first = {}] = given;
    return [asked, given.every((each) => isDeepStrictEqual(each, first)) ? first : given];
  };
  return Object.fromEntries([...found].map(shown));
}

/** HTTP header fields of the connection, not of the answer. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'date',
  'content-length',
  'transfer-encoding',
  'server',
]);

/** An answer of a server, without header fields of the connection. */
export function httpAnswer({ status = 200, json = null, body = '', headers = {} }: Fields): Fields {
  const isJson = json !== null && JSON.stringify(json) === body;
  const kept = Object.entries(headers as Fields).filter(
    ([name]) => !OF_THE_CONNECTION.has(name) && !(isJson && name === 'content-type'),
  );
  return {
    status,
    ...(isJson ? { json } : body === '' ? {} : { body }),
    ...(kept.length === 0 ? {} : { headers: Object.fromEntries(kept) }),
  };
}

/** Entities that were there before the run, as far as it shows. The trace names the class. */
export function entities(trace: readonly TraceEntry[]): Record<string, readonly Value[]> {
  const classes = new Map<string, ClassSeen>();
  for (const { component, subject, exit, result = {} } of trace) {
    if (subject === undefined || exit !== 'next' || !component.startsWith('model_')) continue;
    const seen = classes.get(subject) ?? { before: new Map<string, Value>(), made: new Set<Value>() };
    classes.set(subject, seen);
    if (component === 'model_write') noteWritten(seen, result);
    else for (const each of readIn(result)) noteRead(seen, each);
  }
  const found = [...classes].map(([classname, { before }]) => [classname, [...before.values()]] as const);
  return Object.fromEntries(found.filter(([, before]) => before.length > 0));
}

/** Entities of one class from before a run, by id, and the ids of those created by it. */
interface ClassSeen {
  readonly before: Map<string, Value>;
  readonly made: Set<Value>;
}

/** Only the id is known of an entity that was written before it was read. */
function noteWritten({ before, made }: ClassSeen, { id = '', created }: Fields): void {
  if (created === true) made.add(id);
  else if (typeof id === 'string' && !before.has(id) && !made.has(id)) before.set(id, { id });
}

function noteRead({ before, made }: ClassSeen, entity: Value): void {
  const { id } = (entity ?? {}) as { readonly id?: Value };
  if (typeof id !== 'string' || made.has(id)) return;
  if (!before.has(id) || isDeepStrictEqual(before.get(id), { id })) before.set(id, entity);
}

function readIn({ entity, entities: list }: Fields): readonly Value[] {
  if (Array.isArray(list)) return list as readonly Value[];
  return entity === undefined ? [] : [entity];
}
