/** Makes a test from a run. */
import { stringify } from 'yaml';
import type { RunView, TraceEntry } from '../../runs/index.ts';
import { plainText, type Value, withSecretsNamed } from '../../language/index.ts';
import { PATIENCE_MS } from '../tests/test-file.ts';
import { PARALLEL, SERVE, calledPhones } from './called-phones.ts';
import { callerSteps } from './caller-steps.ts';
import { type Fields, answered, entities, httpAnswer } from './outside-answers.ts';
import { ReplayError, expectReplayable } from './replayable.ts';

/** Default patience of a test's caller; longer runs need an explicit one. */
const SHORT_MS = PATIENCE_MS / 2;

/** Sounds before a conversation may take longer in a test. */
const LONGER_MS = 10_000;

/** Runs that got the call by `serve`, by id. */
export type ServedRuns = ReadonlyMap<string, RunView>;

/**
 * Makes a scripted-caller test from a run: the caller's actions, and the run's behaviour as expectations. Traces do not show
 * silence and wrong keys within one block, so the test presses the last key of a menu. For a live run, the test covers the
 * trace so far.
 * @param served the runs from `servedBy`
 * @param hasClasses the test has the classes of the domain
 * @throws ReplayError when a test cannot repeat the run
 */
export function asTest(found: RunView, served: ServedRuns = new Map(), hasClasses = false): string {
  const view = withServed(found, served);
  expectReplayable(view, hasClasses);
  const { id, file, from, to, args, variables, trace, outcome } = view;
  const done = trace.filter(({ exit }) => exit !== undefined);
  const steps = callerSteps(withCall(view), outcome);
  const begin = trace.at(0)?.start;
  const asked = withChildren(view).toSorted((a, b) => a.start - b.start);
  const phones = calledPhones(view);
  // Of a webhook, only a forbidden one counts: others may end after the run.
  const webhooks = asked.filter(({ error }) => error !== undefined);
  const http = { ...answered(webhooks, 'webhook', (fields) => fields), ...answered(asked, 'http', httpAnswer) };
  const operations = answered(asked, 'operation.', (fields) => fields);
  const model = entities(asked);
  const agents = supervised(asked, begin ?? 0);
  const exits = Object.fromEntries(done.map(({ block, exit }) => [block, exit ?? '']));
  const result = lasting(outcome?.result ?? {}, namesOf(view));
  const test = {
    name: `as in run ${id}`,
    from: from ?? 'none',
    ...(from === undefined ? {} : { to: to ?? 'none' }),
    ...(begin === undefined ? {} : { at: new Date(begin).toISOString() }),
    ...(args === undefined ? {} : { args }),
    ...(variables === undefined ? {} : { variables }),
    ...(outcome === undefined || outcome.milliseconds < SHORT_MS ? {} : { patience: patience(outcome.milliseconds) }),
    ...(Object.keys(phones).length === 0 ? {} : { phones }),
    ...(Object.keys(agents).length === 0 ? {} : { agents }),
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

/** In a test, short blocks may take a little longer. */
function patience(milliseconds: number): string {
  return `${Math.ceil((2 * milliseconds) / 1000)}s`;
}

/** The agents whose conversations somebody heard: they talk for longer than the run listens. */
function supervised(asked: readonly TraceEntry[], begin: number): Readonly<Record<string, string>> {
  const heard = asked.filter(({ component, exit }) => component === 'supervise' && exit !== 'idle');
  const talks = ({ start, milliseconds = 0 }: TraceEntry): string =>
    `talks ${start - begin + milliseconds + LONGER_MS}ms`;
  return Object.fromEntries(heard.map((entry) => [entry.subject ?? '', talks(entry)]));
}

/** The runs that got the call from a run or its children by `serve`. */
export function servedBy({ trace, children = [] }: RunView): readonly string[] {
  const own = trace.flatMap(({ component, result }) => (component === SERVE ? [plainText(result?.['run'] ?? '')] : []));
  return [...own.filter((id) => id !== ''), ...children.flatMap(servedBy)];
}

/** Attaches runs started by `serve` to the run, like those started by `run`. */
function withServed(view: RunView, served: ServedRuns): RunView {
  const trace = view.trace.map((entry) => {
    const id = entry.component === SERVE ? plainText(entry.result?.['run'] ?? '') : '';
    if (id !== '' && !served.has(id))
      throw new ReplayError(entry.block, `it gave the call to the run ${id}, whose trace is no longer kept`);
    return id === '' ? entry : { ...entry, runs: [id] };
  });
  const children = [
    ...(view.children ?? []),
    ...servedBy({ ...view, children: [] }).flatMap((id) => served.get(id) ?? []),
  ];
  return { ...view, trace, children: children.map((child) => withServed(child, served)) };
}

/** The entries of the scenario while it had the call, and of those that got the call from it. */
function withCall({ trace, children = [] }: RunView): readonly TraceEntry[] {
  const main = trace.filter(({ branch, exit }) => branch === 'main' && exit !== undefined);
  const started = new Set(trace.flatMap(({ runs = [] }) => runs));
  // A fallback scenario is not started by a block.
  const instead = children.filter(({ id }) => !started.has(id)).flatMap(withCall);
  const own = main.flatMap((entry) => {
    const { component, runs = [], result, leg } = entry;
    const has = leg === undefined && (component === SERVE || (component === 'run' && result?.['status'] !== PARALLEL));
    const inside = children.filter(({ id }) => has && runs.includes(id)).flatMap(withCall);
    return inside.length === 0 ? [entry] : inside;
  });
  return [...own, ...instead];
}

/** All requests, also those of scenarios started by the run. */
function withChildren({ trace, children = [] }: RunView): readonly TraceEntry[] {
  return [...trace, ...children.flatMap(withChildren)];
}

/** Results with a new name in each run. */
const NAMES = ['callid', 'dialogid', 'id', 'message', 'recording'];
/** Minimum length of a generated name. */
const SHORTEST_NAME = 12;

/** Generated names of this run and of its results; another run has others. */
function namesOf(view: RunView): readonly string[] {
  const made = view.trace.flatMap(({ component, result = {} }) =>
    component === 'model_read' ? [] : NAMES.map((name) => result[name]),
  );
  const names = [view.id, view.callid, ...made].filter((name) => typeof name === 'string');
  const own = names.filter(({ length }) => length >= SHORTEST_NAME);
  return [...own, ...(view.children ?? []).flatMap(namesOf)];
}

/** The fields without any of these names. */
function lasting(fields: Fields, names: readonly string[]): Fields {
  const lasts = (value: Value): boolean => {
    const text = JSON.stringify(value);
    return !names.some((name) => text.includes(name));
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => lasts(value)));
}
