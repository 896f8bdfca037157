/** Sorts all entities for a query without blocking the thread. */
import { type OrderEntry, sorter } from '../filter/index.ts';
import type { Entity } from '../fields.ts';
import type { Slices } from './slices.ts';

interface Keyed {
  readonly entity: Entity;
  readonly keys: readonly unknown[];
}

type Compare = (a: Keyed, b: Keyed) => number;

/** Number of entities sorted at once: takes a fraction of a millisecond. */
const RUN = 512;

/** Sorts by merging sorted runs. */
export async function sorted(
  entities: readonly Entity[],
  order: readonly OrderEntry[],
  slices: Slices,
): Promise<readonly Entity[]> {
  const { keysOf, compare } = sorter(order);
  let runs: Keyed[][] = [];
  for (let from = 0; from < entities.length; from += RUN) {
    const run = entities.slice(from, from + RUN).map((entity) => ({ entity, keys: keysOf(entity) }));
    runs.push(run.toSorted((a, b) => compare(a.keys, b.keys)));
    await slices.pause();
  }
  while (runs.length > 1) {
    const merged: Keyed[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(await merge(runs[index] ?? [], runs[index + 1] ?? [], (a, b) => compare(a.keys, b.keys), slices));
    }
    runs = merged;
  }
  const result: Entity[] = [];
  for (const { entity } of runs[0] ?? []) {
    result.push(entity);
    if (slices.isOver) await slices.pause();
  }
  return result;
}

async function merge(a: readonly Keyed[], b: readonly Keyed[], compare: Compare, slices: Slices): Promise<Keyed[]> {
  const merged: Keyed[] = [];
  let [left, right] = [0, 0];
  for (;;) {
    const [x, y] = [a[left], b[right]];
    if (x === undefined && y === undefined) return merged;
    if (y === undefined || (x !== undefined && compare(x, y) <= 0)) {
      if (x !== undefined) merged.push(x);
      left += 1;
    } else {
      merged.push(y);
      right += 1;
    }
    if (slices.isOver) await slices.pause();
  }
}
