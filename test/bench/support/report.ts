import { cpus, loadavg, totalmem } from 'node:os';

/** One line of a benchmark's table. */
export interface Figure {
  /** What was measured, with its unit. */
  readonly what: string;
  /** Undefined: there was none, e.g. not one clean step. */
  readonly figure: number | undefined;
  /** The same of the bare reference in the same run; undefined where there is none to compare with. */
  readonly floor?: number | undefined;
  /** In few words: what else must be known to read the figure. */
  readonly note?: string;
}

/** A benchmark: bounded in time, ends what it starts, throws `Unavailable` where it cannot run. */
export interface Benchmark {
  readonly title: string;
  /** @param progress takes a line about what is being done, for whoever waits */
  run(progress: (line: string) => void): Promise<readonly Figure[]>;
}

/** A program that a benchmark needs is not on this machine. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** The machine and how busy it is, without which no figure means anything. */
export function machine(): string {
  const cores = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  const load = loadavg()[0] ?? 0;
  const model = cores[0]?.model.trim() ?? 'unknown processor';
  return `${cores.length} cores (${model}), ${memory} GiB, Node ${process.version}, load ${load.toFixed(2)}`;
}

const COLUMNS = ['measured', 'figure', 'floor', 'ratio', ''] as const;

/** The figures as a table for a terminal, numbers to the right. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ what, figure, floor, note }) => [
    what,
    plain(figure),
    plain(floor),
    figure === undefined || floor === undefined || floor === 0 ? '-' : (figure / floor).toFixed(2),
    note ?? '',
  ]);
  const widths = COLUMNS.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === 0 || column === 4 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [COLUMNS, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n');
}

function plain(value: number | undefined): string {
  if (value === undefined) return '-';
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}
