import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import type { RunView } from '../run-view.ts';
import { withSecretsNamed } from '../secret-names.ts';
import { type Value, plainText } from '../values.ts';
import { INTERRUPTED, MAX_SUBJECT_LENGTH, type TraceEntry } from '../run/trace.ts';
import { calledPhones, keysOf, listens } from './called-phones.ts';

/** What `run` says of a scenario that has a call of its own. */
const PARALLEL = 'running';
/** How long a simulated caller thinks before it speaks, and how long a character takes. */
const THINK_MS = 200;
const CHARACTER_MS = 60;
/** How long an answer has to take for the test to say so. */
const LONG_MS = 1000;
/** How much later an answer comes that nobody waited for. */
const UNANSWERED_MS = 60_000;

/**
 * A scripted-caller test that does what the caller of a run did, and expects what happened. Silence and the wrong keys
 * within one block are not in a trace: the last key of a menu is pressed. Of a live run, what it has done so far is
 * expected.
 */
export function asTest(view: RunView): string {
  const { id, file, from, to, args, trace, outcome } = view;
  const done = trace.filter(({ exit }) => exit !== undefined);
  const main = withCall(view);
  const steps = callerSteps(main, outcome?.reason);
  const begin = trace.at(0)?.start;
  const asked = withChildren(view).toSorted((a, b) => a.start - b.start);
  const phones = calledPhones(asked);
  const http = answered(asked, 'http', httpAnswer);
  const operations = answered(asked, 'operation.', (fields) => fields);
  const model = entities(asked);
  const exits = Object.fromEntries(done.map(({ block, exit }) => [block, exit ?? '']));
  const result = lasting(outcome?.result ?? {}, namesOf(view));
  const test = {
    name: `as in run ${id}`,
    from: from ?? 'none',
    ...(to === undefined ? {} : { to }),
    ...(begin === undefined ? {} : { at: new Date(begin).toISOString() }),
    ...(args === undefined ? {} : { args }),
    ...(Object.keys(phones).length === 0 ? {} : { phones }),
    ...(Object.keys(http).length === 0 ? {} : { http }),
    ...(Object.keys(operations).length === 0 ? {} : { operations }),
    ...(Object.keys(model).length === 0 ? {} : { model }),
    ...(steps.length === 0 ? {} : { steps }),
    expect: {
      ...(outcome ? { status: outcome.status, path: done.map(({ block }) => block) } : {}),
      exits,
      ...(outcome?.error ? { error: outcome.error.code } : {}),
      ...(Object.keys(result).length === 0 ? {} : { result }),
    },
  };
  return withSecretsNamed(stringify({ scenario: file, tests: [test] }));
}

type Step = string | Record<string, string>;

/** What the caller did, one after another. */
function callerSteps(main: readonly TraceEntry[], reason: string | undefined): Step[] {
  const steps: Step[] = [];
  // When the step before was done: what happens by itself comes so long after it.
  let since = main[0]?.start ?? 0;
  for (const entry of main) {
    for (const { at, what } of entry.told ?? []) {
      steps.push(...interrupted(what, at - since));
      since = at;
    }
    const done = deed(entry, since);
    if (done.length > 0) since = endOf(entry);
    steps.push(...done);
  }
  return [...steps, ...hangUp(main, reason, since)];
}

function endOf({ start, milliseconds = 0 }: TraceEntry): number {
  return start + milliseconds;
}

function deed(entry: TraceEntry, since: number): Step[] {
  const { component, exit, result, milliseconds = 0, interrupt, listened, leg } = entry;
  if (interrupt !== undefined) return interrupted(interrupt, endOf(entry) - since);
  if (leg !== undefined) return [];
  if (component === 'record') return recorded(result ?? {}, milliseconds);
  if (component === 'recognise' && exit !== INTERRUPTED)
    return result?.['text'] ? [{ says: plainText(result['text']) }] : ['silence'];
  if (!listens(component) || exit === INTERRUPTED) return [];
  const keys = keysOf(entry);
  if (keys !== '') return [{ presses: keys }];
  return component === 'collect' || component === 'menu' || listened === true ? ['silence'] : [];
}

/** Something was said as long as the recording took; what ended it came then. */
function recorded(result: Readonly<Record<string, Value>>, milliseconds: number): Step[] {
  const { reason, digit, milliseconds: length } = result;
  if (reason === 'silence' && typeof length === 'number' && length < THINK_MS) return ['silence'];
  const spoken = (typeof length === 'number' ? length : milliseconds) - 2 * THINK_MS;
  const says = { says: 'x'.repeat(Math.max(1, Math.floor(spoken / CHARACTER_MS))) };
  return reason === 'digit' ? [says, { presses: plainText(digit ?? '#') }] : [says];
}

function interrupted(interrupt: string, milliseconds: number): Step[] {
  const [kind, key = ''] = interrupt.split(' ');
  const after = `${milliseconds}ms`;
  if (kind === 'dtmf') return [{ presses: key, after }];
  if (kind === 'hold') return [{ holds: after }];
  if (kind === 'unhold') return [{ resumes: after }];
  return kind === 'hangup' ? [{ hangs_up: after }] : [];
}

function hangUp(main: readonly TraceEntry[], reason: string | undefined, since: number): Step[] {
  const last = main.at(-1);
  if (reason?.startsWith('opponent') !== true || last?.exit !== INTERRUPTED) return [];
  // While it spoke: the time until then has passed.
  const spoke = last.component === 'record' && last.interrupt === undefined;
  const sound = lastSound(main);
  // In a test sounds last as long as they do: the beginning of the one that was heard is what counts.
  if (sound !== undefined) return [{ hears: sound }, { hangs_up: `${Math.min(THINK_MS, last.milliseconds ?? 0)}ms` }];
  return [{ hangs_up: `${spoke ? THINK_MS : endOf(last) - since}ms` }];
}

/** What was heard last, by the name that tests have for it; undefined when it is no single sound, or was heard before. */
function lastSound(main: readonly TraceEntry[]): string | undefined {
  const { component, subject, interrupt, leg } = main.at(-1) ?? {};
  const since = main.slice(main.findLastIndex((entry) => (entry.told?.length ?? deed(entry, 0).length) > 0) + 1);
  // Nothing, and what has another name in each run, cannot be waited for.
  if (subject !== undefined && /^(silence|recording):/.test(subject)) return undefined;
  const isOne = component === 'say' || (component === 'play' && subject?.includes(' ') === false);
  if (
    !isOne ||
    leg !== undefined ||
    subject === undefined ||
    subject.length >= MAX_SUBJECT_LENGTH ||
    interrupt !== undefined
  )
    return undefined;
  if (since.filter((entry) => entry.subject === subject).length !== 1) return undefined;
  return component === 'say' ? subject : path.posix.basename(subject);
}

/** What was done while the scenario had the call, by itself and by those that it ran as functions. */
function withCall({ trace, children = [] }: RunView): readonly TraceEntry[] {
  const main = trace.filter(({ branch, exit }) => branch === 'main' && exit !== undefined);
  return main.flatMap((entry) => {
    const { component, runs = [], result } = entry;
    const has = component === 'run' && result?.['status'] !== PARALLEL;
    const inside = children.filter(({ id }) => has && runs.includes(id)).flatMap(withCall);
    return inside.length === 0 ? [entry] : inside;
  });
}

/** The scenarios that it started ask, too. */
function withChildren({ trace, children = [] }: RunView): readonly TraceEntry[] {
  return [...trace, ...children.flatMap(withChildren)];
}

/** Results of components that are named anew in each run. */
const NAMES = ['callid', 'dialogid', 'id', 'recording'];
/** Characters of the shortest name that is made up. */
const SHORTEST_NAME = 12;

/** What this run was called, and what it made: another one has other names for it. */
function namesOf(view: RunView): readonly string[] {
  const made = view.trace.flatMap(({ component, result = {} }) =>
    component === 'model_read' ? [] : NAMES.map((name) => result[name]),
  );
  const names = [view.id, view.callid, ...made].filter((name) => typeof name === 'string');
  const own = names.filter(({ length }) => length >= SHORTEST_NAME);
  return [...own, ...(view.children ?? []).flatMap(namesOf)];
}

/** The fields in which none of these names is. */
function lasting(fields: Fields, names: readonly string[]): Fields {
  const lasts = (value: Value): boolean => {
    const text = JSON.stringify(value);
    return !names.some((name) => text.includes(name));
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => lasts(value)));
}

type Fields = Readonly<Record<string, Value>>;

/**
 * What others answered, by what they were asked; one that took long takes as long again.
 * @param component name of the component, or how it begins
 */
function answered(
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

function httpAnswer({ status = 200, json = null, body = '', headers = {} }: Fields): Fields {
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
function entities(trace: readonly TraceEntry[]): Record<string, Value[]> {
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
