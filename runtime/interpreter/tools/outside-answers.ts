import { isDeepStrictEqual } from 'node:util';
import { INTERRUPTED, type TraceEntry } from '../run/trace.ts';
import type { Value } from '../values.ts';

/** How long an answer has to take for the test to say so. */
export const LONG_MS = 1000;
/** How much later an answer comes that nobody waited for. */
const UNANSWERED_MS = 60_000;

/** What others answered during a run, in the words of tests. */

export type Fields = Readonly<Record<string, Value>>;

/**
 * What others answered, by what they were asked; one that took long takes as long again.
 * @param component name of the component, or how it begins
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
    // It had not come yet.
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

/** Fields of an HTTP header that say nothing of the answer. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'date',
  'content-length',
  'transfer-encoding',
  'server',
]);

/** An answer of a server, without what belongs to the connection. */
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

/** Entities that the run read before it wrote them. The trace names the class. */
export function entities(trace: readonly TraceEntry[]): Record<string, Value[]> {
  const found = new Map<string, Map<string, Value>>();
  for (const { component, subject, result } of trace) {
    if (subject === undefined || (component !== 'model_read' && component !== 'model_list')) continue;
    const { entity, entities: list } = result ?? {};
    const read = Array.isArray(list) ? (list as readonly Value[]) : entity === undefined ? [] : [entity];
    const known = found.get(subject) ?? new Map<string, Value>();
    for (const each of read) {
      const { id } = (each ?? {}) as { readonly id?: Value };
      if (typeof id === 'string' && !known.has(id)) known.set(id, each);
    }
    if (known.size > 0) found.set(subject, known);
  }
  return Object.fromEntries([...found].map(([classname, known]) => [classname, [...known.values()]]));
}
