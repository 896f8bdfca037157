import { callidOf, failureStack, failureText, type Run, type RunOutcome, type RunView, type TraceEntry } from '../../runs/index.ts';
import type { Happenings } from './happenings.ts';
import type { Simulation } from './simulation.ts';

/**
 * What happened in a simulation, line by line: blocks, and below each what it did to the call. Scenarios that it started follow
 * as in a trace, and those that got its call by `serve`.
 */
export function transcript({ run, happenings }: Pick<Simulation, 'run' | 'happenings'>): string[] {
  return [
    ...runLines(run, happenings),
    ...happenings.served.flatMap((served) => [runHeader(headOf(served)), ...runLines(served, happenings)]),
  ];
}

function runLines(run: Run, happenings: Happenings): string[] {
  const { start, trace, outcome } = run;
  const events = happenings.of(run);
  return [
    ...trace.flatMap((entry) => [
      blockLine(entry, start),
      ...(entry.log ?? []).map((line) => `${INDENT}${line}`),
      ...(events.get(entry.step) ?? []).map(({ at, what }) => `${seconds(at - start)}      ${what}`),
    ]),
    ...(outcome ? outcomeLines(outcome) : [STILL_RUNNING]),
    ...run.children.flatMap((child) => nested([runHeader(headOf(child)), ...runLines(child, happenings)])),
  ];
}

function headOf(run: Run): RunHead {
  const { id, program } = run;
  return { id, scenario: program.id, version: program.version, callid: callidOf(run) };
}

/** The line before a run that is not the only one. */
export function runHeader({ id, scenario, version, callid }: RunHead): string {
  return `run ${id}  scenario ${scenario}  version ${version}${callid === '' ? '' : `  call ${callid}`}`;
}

/** Lines of a run that another one started. */
export function nested(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`);
}

/** In place of how the run ended. */
export const STILL_RUNNING = '          (still running)';

type RunHead = Pick<RunView, 'id' | 'scenario' | 'version' | 'callid'>;

/** Characters shown of what a run returned. */
const MAX_SHOWN = 1000;

const INDENT = ' '.repeat(14);

/**
 * One line for a block.
 * @param start when the run began, in milliseconds since the epoch
 */
export function blockLine(entry: TraceEntry, start: number): string {
  const { block, component, exit, variables, error } = entry;
  const changed = Object.entries(variables ?? {}).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const where = `${seconds(entry.start - start)}  ${block} (${component})`;
  return `${where} -> ${exit ?? '?'}${changed.join('')}${error ? `: ${failureText(error)}` : ''}`;
}

/** The last lines: how the run ended, where it failed, and what it returned. */
export function outcomeLines({ status, error, reason, value, milliseconds }: RunOutcome): string[] {
  const block = error && error.block !== '' ? `block ${error.block}: ` : '';
  const why = error ? `: ${block}${failureText(error)}` : reason === undefined ? '' : `: ${reason}`;
  return [
    `${seconds(milliseconds)}  ${status}${why}`,
    ...(error ? failureStack(error).map((line) => `${INDENT}${line}`) : []),
    ...(value === undefined || value === null
      ? []
      : [`${INDENT}returned ${JSON.stringify(value).slice(0, MAX_SHOWN)}`]),
  ];
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1).padStart(7)}s`;
}
