import path from 'node:path';
import type { CallPort } from './call-port.ts';
import type { Run, RunOptions } from './run/run.ts';
import type { RunOutcome } from './run/outcome.ts';
import type { TraceEntry } from './run/trace.ts';
import type { Value } from '../language/index.ts';

/** Characters of JSON that the values it began with may have to be shown. */
const MAX_VALUES_LENGTH = 4096;

/** A run, live or finished, as its author looks at it. */
export interface RunView {
  readonly id: string;
  readonly scenario: string;
  readonly version: string;
  /** Name of its file, without the folder. */
  readonly file: string;
  /** Who called, and the number by which the scenario was reached; absent without a caller. */
  readonly from?: string;
  readonly to?: string;
  /** Values of its parameters; absent when there are none, or very large ones. */
  readonly args?: Readonly<Record<string, Value>>;
  /** Values that whoever started it gave its variables; absent as those of parameters. */
  readonly variables?: Readonly<Record<string, Value>>;
  /** Call-ID of the scenario's own party. */
  readonly callid: string;
  readonly domain: string;
  /** When it began, milliseconds since the epoch; left out: with the first entry of the trace. */
  readonly start?: number;
  /** The latest of what it did. */
  readonly trace: readonly TraceEntry[];
  /** Absent while it runs. */
  readonly outcome?: RunOutcome;
  /** Scenarios that this one started. */
  readonly children?: readonly RunView[];
}

/** What is known of whoever called, and what it gave. */
export type Caller = Pick<RunView, 'callid' | 'from' | 'to' | 'args' | 'variables'>;

export function callerOf(call: CallPort | undefined): Caller {
  const { callid = '', opponent, dialled } = call ?? {};
  const from = opponent?.number;
  return { callid, ...(from === undefined ? {} : { from }), ...(dialled === undefined ? {} : { to: dialled }) };
}

/** Call-ID of a run's own party, or of the one that was lent to it. */
export function callidOf({ calls: [call] }: Run): string {
  return call?.callid ?? '';
}

/** What a run began with, as far as it is shown. */
export function shownValues({ args, variables }: Pick<RunOptions, 'args' | 'variables'>): Partial<Caller> {
  return { ...(isShown(args) ? { args } : {}), ...(isShown(variables) ? { variables } : {}) };
}

function isShown(values: RunOptions['args'] = {}): values is Readonly<Record<string, Value>> {
  const { length } = JSON.stringify(values);
  return length > '{}'.length && length <= MAX_VALUES_LENGTH;
}

/** A run as its author looks at it; those that it started have its caller. */
export function viewOf({ id, program, start, trace, domain, children, outcome }: Run, caller: Caller): RunView {
  const { args: _args, variables: _variables, ...call } = caller;
  const nested = children.map((child) => viewOf(child, { ...call, callid: callidOf(child) }));
  const { id: scenario, version } = program;
  const file = path.basename(program.file);
  return {
    id,
    scenario,
    version,
    file,
    domain,
    ...caller,
    start,
    trace,
    ...(outcome ? { outcome: withoutVariables(outcome) } : {}),
    ...(nested.length === 0 ? {} : { children: nested }),
  };
}

/** The trace has the variables as they changed. */
function withoutVariables({ variables: _variables, ...kept }: RunOutcome): RunOutcome {
  return kept;
}
