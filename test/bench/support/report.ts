import { cpus, loadavg, totalmem } from 'node:os';

/** One line of a benchmark's table. */
export interface Figure {
  /** The measured quantity, with its unit. */
  readonly what: string;
  /** Undefined: no value, e.g. without any clean step. */
  readonly figure: number | undefined;
  /** The value of the bare reference in the same run; undefined without a reference. */
  readonly floor?: number | undefined;
  /** Further facts needed to read the figure, in few words. */
  readonly note?: string;
}

/** A benchmark: limited in time, ends its processes, throws `Unavailable` where it cannot run. */
export interface Benchmark {
  readonly title: string;
  /** @param progress takes a line about the current work */
  run(progress: (line: string) => void): Promise<readonly Figure[]>;
}

/** A required program is missing on this machine. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** The machine and its load, needed to judge any figure. */
export function machine(): string {
  const cores = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  const load = loadavg()[0] ?? 0;
  const model = cores[0]?.model.trim() ?? 'unknown processor';
  return `${cores.length} cores (${model}), ${memory} GiB, Node ${process.version}, load ${load.toFixed(2)}`;
}

const COLUMNS = ['measured', 'figure', 'floor', 'ratio', ''] as const;

/** The figures as a table for a terminal, with numbers aligned right. */
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
