import { stringify } from 'yaml';
import type { RunView, TraceEntry } from '../../runs/index.ts';
import { plainText, type Value, withSecretsNamed } from '../../language/index.ts';
import { PATIENCE_MS } from '../tests/test-file.ts';
import { PARALLEL, SERVE, calledPhones } from './called-phones.ts';
import { callerSteps } from './caller-steps.ts';
import { type Fields, answered, entities, httpAnswer } from './outside-answers.ts';
import { ReplayError, expectReplayable } from './replayable.ts';

/** A run is shorter than this, or the caller of its test has to be told to have more patience. */
const SHORT_MS = PATIENCE_MS / 2;

/** Runs that got the call by `serve`, by their ids. */
export type ServedRuns = ReadonlyMap<string, RunView>;

/**
 * A scripted-caller test that does what the caller of a run did, and expects what happened. Silence and the wrong keys
 * within one block are not in a trace: the last key of a menu is pressed. Of a live run, what it has done so far is
 * expected.
 * @param served the runs that `servedBy` names
 * @throws ReplayError when a test cannot do the same
 */
export function asTest(found: RunView, served: ServedRuns = new Map()): string {
  const view = withServed(found, served);
  expectReplayable(view);
  const { id, file, from, to, args, variables, trace, outcome } = view;
  const done = trace.filter(({ exit }) => exit !== undefined);
  const steps = callerSteps(withCall(view), outcome);
  const begin = trace.at(0)?.start;
  const asked = withChildren(view).toSorted((a, b) => a.start - b.start);
  const phones = calledPhones(view);
  // Of a webhook only that it was forbidden: it goes on when the run is over.
  const webhooks = asked.filter(({ error }) => error !== undefined);
  const http = { ...answered(webhooks, 'webhook', (fields) => fields), ...answered(asked, 'http', httpAnswer) };
  const operations = answered(asked, 'operation.', (fields) => fields);
  const model = entities(asked);
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

/** In a test what is short may take a little longer. */
function patience(milliseconds: number): string {
  return `${Math.ceil((2 * milliseconds) / 1000)}s`;
}

/** The runs that a run and those that it started gave the call to. */
export function servedBy({ trace, children = [] }: RunView): readonly string[] {
  const own = trace.flatMap(({ component, result }) => (component === SERVE ? [plainText(result?.['run'] ?? '')] : []));
  return [...own.filter((id) => id !== ''), ...children.flatMap(servedBy)];
}

/** What `serve` began belongs to the run like what `run` does. */
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

/** What was done while the scenario had the call, by itself and by those that had it from it. */
function withCall({ trace, children = [] }: RunView): readonly TraceEntry[] {
  const main = trace.filter(({ branch, exit }) => branch === 'main' && exit !== undefined);
  const started = new Set(trace.flatMap(({ runs = [] }) => runs));
  // A fallback scenario, which no block has started.
  const instead = children.filter(({ id }) => !started.has(id)).flatMap(withCall);
  const own = main.flatMap((entry) => {
    const { component, runs = [], result, leg } = entry;
    const has = leg === undefined && (component === SERVE || (component === 'run' && result?.['status'] !== PARALLEL));
    const inside = children.filter(({ id }) => has && runs.includes(id)).flatMap(withCall);
    return inside.length === 0 ? [entry] : inside;
  });
  return [...own, ...instead];
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
