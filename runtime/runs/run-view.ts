/** Views of runs for their authors. */
import path from 'node:path';
import { asDomainName, type DomainName } from '../domain-name/index.ts';
import type { CallPort } from './call-port.ts';
import type { Run, RunOptions } from './run/run.ts';
import type { RunOutcome } from './run/outcome.ts';
import type { TraceEntry } from './run/trace.ts';
import type { Value } from '../language/index.ts';
import type { SavedRun } from './run/saved-run.ts';

/** Limit of shown start values, in characters of JSON. */
const MAX_VALUES_LENGTH = 4096;

/** A view of a run, live or finished, for its author. */
export interface RunView {
  readonly id: string;
  readonly scenario: string;
  /** Number of the scenario's version. */
  readonly version: string;
  /** Hash of the text of that version. */
  readonly hash?: string;
  /** Name of its file, without the folder. */
  readonly file: string;
  /** The caller, and the dialled number that reached the scenario; absent without a caller. */
  readonly from?: string;
  readonly to?: string;
  /** Values of its parameters; absent without values, or when they are very large. */
  readonly args?: Readonly<Record<string, Value>>;
  /** Start values of its variables; absent like those of parameters. */
  readonly variables?: Readonly<Record<string, Value>>;
  /** Call-ID of the scenario's own party. */
  readonly callid: string;
  readonly domain: DomainName;
  /** Start time, milliseconds since the epoch; default: that of the first trace entry. */
  readonly start?: number;
  /** The latest trace entries. */
  readonly trace: readonly TraceEntry[];
  /** Absent while it runs. */
  readonly outcome?: RunOutcome;
  /** Scenarios started by this one. */
  readonly children?: readonly RunView[];
}

/** The caller of a run, and its start values. */
export type Caller = Pick<RunView, 'callid' | 'from' | 'to' | 'args' | 'variables'>;

export function callerOf(call: CallPort | undefined): Caller {
  const { callid = '', opponent, dialled } = call ?? {};
  const from = opponent?.number;
  return { callid, ...(from === undefined ? {} : { from }), ...(dialled === undefined ? {} : { to: dialled }) };
}

/** Call-ID of a run's own or borrowed party. */
export function callidOf({ calls: [call] }: Run): string {
  return call?.callid ?? '';
}

/** The shown start values of a run. */
export function shownValues({ args, variables }: Pick<RunOptions, 'args' | 'variables'>): Partial<Caller> {
  return { ...(isShown(args) ? { args } : {}), ...(isShown(variables) ? { variables } : {}) };
}

function isShown(values: RunOptions['args'] = {}): values is Readonly<Record<string, Value>> {
  const { length } = JSON.stringify(values);
  return length > '{}'.length && length <= MAX_VALUES_LENGTH;
}

/** The view of a run. Scenarios started by it have the same caller, unless they serve another party. */
export function viewOf(run: Run, caller: Caller): RunView {
  const { id, program, start, trace, domain, children, outcome, sensitive } = run;
  const { args, variables, ...call } = caller;
  const given = { ...(args && { args }), ...(variables && { variables }) };
  const nested = children.map((child) => {
    const callid = callidOf(child);
    const [own] = child.calls;
    const isOther = own?.opponent !== undefined && callid !== call.callid;
    return viewOf(child, isOther ? callerOf(own) : { ...call, callid });
  });
  const { id: scenario, version, hash } = program;
  const file = path.basename(program.file);
  return {
    id,
    scenario,
    version,
    ...(hash === undefined ? {} : { hash }),
    file,
    domain,
    ...caller,
    ...sensitive.value(given),
    start,
    trace,
    ...(outcome ? { outcome: shownOutcome(run, withoutVariables(outcome)) } : {}),
    ...(nested.length === 0 ? {} : { children: nested }),
  };
}

/** The parts of an outcome that hold values of the scenario. */
function toldOf({ error, reason, result, value }: RunOutcome): Partial<RunOutcome> {
  return {
    ...(error && { error }),
    ...(reason === undefined ? {} : { reason }),
    result,
    ...(value === undefined ? {} : { value }),
  };
}

/** The outcome as its author may see it. */
export function shownOutcome(run: Run, outcome: RunOutcome): RunOutcome {
  return { ...outcome, ...run.sensitive.value(toldOf(outcome)) };
}

/** The final variables are left out: the trace shows their changes. */
function withoutVariables({ variables: _variables, ...kept }: RunOutcome): RunOutcome {
  return kept;
}

/** A waiting run, as other nodes go on with it. */
export interface KeptRun {
  readonly run: SavedRun;
  readonly caller: Caller;
}

/** The view of a run of a dead node that no other node can go on with. */
export function lostRun({ run, caller }: KeptRun, reason: string): RunView {
  const { id, scenario, version, hash, file, start, saved, state } = run;
  const error = { code: 'run_lost', message: reason, block: run.blocks?.block ?? '' } as const;
  const { steps, reported: result } = state;
  return {
    id,
    scenario,
    version,
    ...(hash === undefined ? {} : { hash }),
    file: path.basename(file),
    domain: asDomainName(run.domain),
    ...caller,
    start,
    trace: state.trace,
    outcome: { status: 'failed', error, result, steps, start, milliseconds: saved - start },
  };
}
