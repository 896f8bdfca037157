import type { RunOutcome } from '../run/run.ts';
import type { TraceEntry } from '../run/trace.ts';
import type { Simulation } from './simulation.ts';

/** What happened in a simulation, line by line: blocks, and below each what it did to the call. */
export function transcript({ run, outcome, events }: Pick<Simulation, 'run' | 'outcome' | 'events'>): string[] {
  return [
    ...run.trace.flatMap((entry) => [
      blockLine(entry, 0),
      ...(events.get(entry.step) ?? []).map(({ at, what }) => `${seconds(at)}      ${what}`),
    ]),
    outcomeLine(outcome),
  ];
}

/**
 * One line for a block.
 * @param start when the run began, in milliseconds since the epoch
 */
export function blockLine(entry: TraceEntry, start: number): string {
  const { block, component, exit, variables, error } = entry;
  const changed = Object.entries(variables ?? {}).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const where = `${seconds(entry.start - start)}  ${block} (${component})`;
  return `${where} -> ${exit ?? '?'}${changed.join('')}${error ? `: ${error.message}` : ''}`;
}

/** The last line: how the run ended. */
export function outcomeLine({ status, error, reason, milliseconds }: RunOutcome): string {
  const why = error ? `: block ${error.block}: ${error.message}` : reason === undefined ? '' : `: ${reason}`;
  return `${seconds(milliseconds)}  ${status}${why}`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1).padStart(7)}s`;
}
