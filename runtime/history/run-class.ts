/** The class `runhistory` of each domain: ended runs of scenarios with their traces, which only the node writes. */
import { type Model, type ModelCollection, openBuiltIn, RUN_HISTORY } from '../model/index.ts';
import type { RunView } from '../runs/index.ts';

/** @param isSearched has an index with the time, for the latest runs of one value */
const text = (name: string, isSearched = false) => ({
  name,
  data_type: 'string',
  ...(isSearched && { index: ['ts'] }),
});
const json = (name: string) => ({ name, data_type: 'any' });
const number = (name: string) => ({ name, data_type: 'long' });

const PROPERTIES = [
  text('scenario', true),
  text('version'),
  text('hash'),
  text('file'),
  text('callid'),
  text('from', true),
  text('to'),
  { name: 'status', data_type: 'enum', items: ['running', 'completed', 'ended', 'failed', 'stopped'] },
  text('error_code'),
  number('milliseconds'),
  number('steps'),
  json('args'),
  json('variables'),
  json('outcome'),
  json('trace'),
  json('children'),
];

/** Fields of a run in lists: all but its steps. */
export const RUN_FIELDS = ['id', 'ts', ...PROPERTIES.map(({ name }) => name)].filter(
  (name) => name !== 'trace' && name !== 'children',
);

/** A run as the database has it. */
export type RunRecord = Readonly<Record<string, unknown>> & { readonly id: string; readonly ts: number };

/**
 * The runs of a domain; the class is created if missing.
 * @param domain id
 * @param days retention; 0: for ever
 * @throws Error when an older class has the name `runhistory`
 */
export function openRunHistory(
  model: Pick<Model, 'classes' | 'collection'>,
  domain: string,
  days: number,
): Promise<ModelCollection> {
  return openBuiltIn(model, domain, RUN_HISTORY, {
    name: 'Runs',
    description: 'Ended runs of scenarios with their traces; written by the node alone',
    storage_mode: 'history',
    properties: PROPERTIES,
    opts: { partition_interval: 'day', store_days: days, notify: false, max_limit: 10_000 },
  });
}

/** The record of a run, or of one in progress. */
export function runRecord(view: RunView): RunRecord {
  const { id, scenario, version, hash, file, callid, from, to, start, args, variables, trace, children, outcome } =
    view;
  return {
    id,
    ts: start ?? trace[0]?.start ?? Date.now(),
    scenario,
    version,
    hash: hash ?? null,
    file,
    callid,
    from: from ?? null,
    to: to ?? null,
    status: outcome?.status ?? null,
    error_code: outcome?.error?.code ?? null,
    milliseconds: outcome?.milliseconds ?? null,
    steps: outcome?.steps ?? null,
    args: args ?? null,
    variables: variables ?? null,
    outcome: outcome ?? null,
    trace,
    children: children ?? null,
  };
}

/** The fields of a record that a view has, without those that are null. */
export function runOf({
  ts,
  status: _status,
  error_code: _code,
  milliseconds: _ms,
  steps: _steps,
  ...record
}: RunRecord): object {
  const present = Object.entries(record).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(present), start: ts };
}
