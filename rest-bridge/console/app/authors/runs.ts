/** Runs of scenarios: the list, one of them, and the graph of the version that it ran. */
import { ApiError, read, send } from '../lib/api.ts';
import type { Run } from './run-types.ts';
import { type Graph, type Kind, pathOf, type Script, type ScriptData } from './scenario-types.ts';

export const STATUSES = ['running', 'completed', 'ended', 'failed', 'stopped'] as const;
export type Status = (typeof STATUSES)[number];

/** An item of `GET /api/runs`. */
export interface ListedRun {
  readonly id: string;
  /** Beginning, milliseconds since the epoch. */
  readonly ts: number;
  readonly scenario: string;
  readonly version: string;
  readonly from?: string;
  readonly to?: string;
  readonly status: Status;
  readonly error_code?: string;
  readonly milliseconds?: number;
  readonly steps?: number;
}

export interface RunSearch {
  /** Part of the number of the caller, or of the dialled one. */
  readonly number: string;
  readonly scenario: string;
  readonly status: string;
  /** How far back. */
  readonly days: number;
}

const MASK = 'id,ts,scenario,version,from,to,status,error_code,milliseconds,steps';
const DAY_MS = 86_400_000;

/** Runs that fit, the latest first. @param limit the most @throws ApiError */
export async function searchRuns(search: RunSearch, limit: number): Promise<readonly ListedRun[]> {
  const { days, status } = search;
  const list = (wanted: string, interval?: readonly string[]) =>
    read<readonly ListedRun[]>('/api/runs', {
      mask: MASK,
      limit,
      filter: filterOf({ ...search, status: wanted }),
      interval,
    });
  // Of one day, it has the runs in progress, too.
  if (days <= 1 || status === 'running') return await list(status);
  const interval = [Date.now() - days * DAY_MS, Date.now() + DAY_MS].map((ts) => new Date(ts).toISOString());
  const [live, ended] = await Promise.all([status === '' ? list('running') : [], list(status, interval)]);
  const over = new Set(ended.map(({ id }) => id));
  return [...live.filter(({ id }) => !over.has(id)), ...ended].toSorted((a, b) => b.ts - a.ts).slice(0, limit);
}

function filterOf({ number, scenario, status }: RunSearch): unknown[] | undefined {
  const contains = (field: string) => ['contains', ['coalesce', ['property', field], ''], number];
  const equals = (field: string, value: string) => ['equal', ['property', field], value];
  const conditions = [
    ...(number === '' ? [] : [['or', contains('from'), contains('to')]]),
    ...(scenario === '' ? [] : [equals('scenario', scenario)]),
    ...(status === '' ? [] : [equals('status', status)]),
  ];
  return conditions.length === 0 ? undefined : ['and', ...conditions];
}

/** A run, or one that it started. @param child its id @returns undefined for an unknown child @throws ApiError */
export async function readRun(id: string, child?: string): Promise<Run | undefined> {
  const run = await read<Run>(`/api/runs/${encodeURIComponent(id)}`);
  return child === undefined ? run : descendant(run, child);
}

function descendant({ children = [] }: Run, wanted: string): Run | undefined {
  for (const child of children) {
    const found = child.id === wanted ? child : descendant(child, wanted);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A scenario as a run had it. */
export interface RanScenario {
  readonly kind: Kind;
  readonly script: Script;
  readonly graph: Graph;
  /** The graph is that of the present text, as the version of the run is gone. */
  readonly isPresent: boolean;
}

/** @returns undefined when the scenario is gone @throws ApiError */
export async function scenarioOf({ scenario, version }: Run): Promise<RanScenario | undefined> {
  for (const kind of ['ivr', 'svc'] as const) {
    const [script] = await orNone(
      read<readonly Script[]>(pathOf(kind), { filter: { code: scenario }, limit: 1 }),
      403,
      [],
    );
    if (script === undefined) continue;
    const path = `${pathOf(kind)}/${encodeURIComponent(script.id)}/versions/${encodeURIComponent(version)}`;
    const ran = await orNone(read<{ readonly scriptdata: ScriptData }>(path), 404, undefined);
    const { scriptdata } = ran ?? script;
    const graph = await send<Graph>('POST', `${pathOf(kind)}!draw`, { code: scenario, draft: true, scriptdata });
    return { kind, script, graph, isPresent: ran === undefined };
  }
  return undefined;
}

async function orNone<T, N>(answer: Promise<T>, status: number, none: N): Promise<T | N> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === status) return none;
    throw error;
  }
}

export interface MadeTest {
  /** A test file. */
  readonly test: string;
  /** It passes. */
  readonly tried: boolean;
}

/** @throws ApiError 422 when no test can repeat the run */
export function testOf(id: string): Promise<MadeTest> {
  return read<MadeTest>(`/api/runs/${encodeURIComponent(id)}/test`);
}

/** Adds a made test to those that a script keeps. @returns their text @throws Error when the kept ones have a mistake */
export async function withTest(kept: string, { test }: MadeTest): Promise<string> {
  const { isSeq, parseDocument } = await import('yaml');
  const made = parseDocument(test);
  made.delete('scenario');
  if (kept.trim() === '') return String(made);
  const all = parseDocument(kept);
  const [tests, added] = [all.get('tests'), made.get('tests')];
  const [mistake] = all.errors;
  if (mistake !== undefined) throw new Error(mistake.message);
  if (!isSeq(tests) || !isSeq(added)) throw new Error('tests');
  tests.items.push(...added.items);
  return String(all);
}
