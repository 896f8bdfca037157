import type { RunOutcome } from '../run/run.ts';
import { failureStack, failureText } from '../run/failure-text.ts';
import type { TraceEntry } from '../run/trace.ts';
import type { Simulation } from './simulation.ts';

/** What happened in a simulation, line by line: blocks, and below each what it did to the call. */
export function transcript({ run, outcome, events }: Pick<Simulation, 'run' | 'outcome' | 'events'>): string[] {
  const { start } = outcome;
  return [
    ...run.trace.flatMap((entry) => [
      blockLine(entry, start),
      ...(entry.log ?? []).map((line) => `${INDENT}${line}`),
      ...(events.get(entry.step) ?? []).map(({ at, what }) => `${seconds(at - start)}      ${what}`),
    ]),
    ...outcomeLines(outcome),
  ];
}

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
