import type { RunView } from '../../runs/index.ts';

/** The latest runs of a node, a line each, newest last: start (UTC), scenario, caller, outcome and id. */
export function runsText(views: readonly RunView[], count: number): string[] {
  const rows = views
    .map((view) => ({ view, start: view.start ?? 0 }))
    .toSorted((one, other) => one.start - other.start)
    .slice(-count)
    .map(({ view, start }) => [
      new Date(start).toISOString().slice(0, 19).replace('T', ' '),
      view.scenario,
      callers(view),
      view.outcome?.status ?? 'running',
      view.id,
    ]);
  const widths = rows.reduce<number[]>((all, row) => row.map((cell, at) => Math.max(cell.length, all[at] ?? 0)), []);
  return rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
}

function callers({ from, to }: RunView): string {
  if (from === undefined) return '';
  return to === undefined ? from : `${from} -> ${to}`;
}
