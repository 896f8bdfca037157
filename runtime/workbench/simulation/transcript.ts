import {
  callidOf,
  failureStack,
  failureText,
  type Run,
  type RunOutcome,
  type RunView,
  shownOutcome,
  type TraceEntry,
} from '../../runs/index.ts';
import type { Happenings } from './happenings.ts';
import type { Simulation } from './simulation.ts';

/**
 * The transcript of a simulation: a line for each block, with its events of the call below. Scenarios started by it, and
 * those that got its call by `serve`, follow as in a trace.
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
    ...(outcome ? outcomeLines(shownOutcome(run, outcome)) : [STILL_RUNNING]),
    ...run.children.flatMap((child) => nested([runHeader(headOf(child)), ...runLines(child, happenings)])),
  ];
}

function headOf(run: Run): RunHead {
  const { id, program } = run;
  return { id, scenario: program.id, version: program.version, callid: callidOf(run) };
}

/** The heading of a run, where there are several. */
export function runHeader({ id, scenario, version, callid }: RunHead): string {
  return `run ${id}  scenario ${scenario}  version ${version}${callid === '' ? '' : `  call ${callid}`}`;
}

/** Lines of a run started by another. */
export function nested(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`);
}

/** A note in place of the outcome. */
export const STILL_RUNNING = '          (still running)';

type RunHead = Pick<RunView, 'id' | 'scenario' | 'version' | 'callid'>;

/** Limit of a shown return value, in characters. */
const MAX_SHOWN = 1000;

const INDENT = ' '.repeat(14);

/**
 * One line for a block.
 * @param start start of the run, in milliseconds since the epoch
 */
export function blockLine(entry: TraceEntry, start: number): string {
  const { block, component, exit, variables, error } = entry;
  const changed = Object.entries(variables ?? {}).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const where = `${seconds(entry.start - start)}  ${block} (${component})`;
  return `${where} -> ${exit ?? '?'}${changed.join('')}${error ? `: ${failureText(error)}` : ''}`;
}

/** The last lines: outcome, place of a failure, and return value. */
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
