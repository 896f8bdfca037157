import { posix } from 'node:path';

/** Imports and re-exports followed by Node at load time: all except `import type`. */
const LOADED = /^(?:import|export)\s+(?!type\s)(?:[^'"`;]*?\sfrom\s+)?'(\.[^']+)'/gm;

/** Imports and re-exports of any kind, including types. */
const NAMED = /^(?:import|export)\s+(?:[^'"`;]*?\sfrom\s+)?'(\.[^']+)'/gm;

/**
 * Project files loaded by a file.
 * @param file path from the root of the project, with slashes
 */
export function loadedBy(file: string, source: string): string[] {
  return specifiers(file, source, LOADED);
}

/** Project files imported by a file, including types: see {@link loadedBy}. */
export function importedBy(file: string, source: string): string[] {
  return specifiers(file, source, NAMED);
}

function specifiers(file: string, source: string, pattern: RegExp): string[] {
  return [...source.matchAll(pattern)].map(([, specifier = '']) => posix.join(posix.dirname(file), specifier));
}

/**
 * Circles of files that load each other: at least one for each connected group.
 * @param loads the files loaded by each file
 * @returns the files of each circle in load order
 */
export function importCycles(loads: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (file: string): void => {
    const before = way.indexOf(file);
    if (before >= 0) cycles.push(way.slice(before));
    if (before >= 0 || done.has(file)) return;
    way.push(file);
    for (const loaded of loads.get(file) ?? []) visit(loaded);
    way.pop();
    done.add(file);
  };
  for (const file of loads.keys()) visit(file);
  return cycles;
}

/**
 * Groups of files that import each other (strongly connected components, by Tarjan's algorithm).
 * @param imports the files imported by each file
 * @returns groups of two or more files, sorted
 */
export function importTangles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const tangles: string[][] = [];
  const order = new Map<string, number>();
  const open: string[] = [];
  /** The earliest open file reachable from a file, by its number in `order`. */
  const visit = (file: string): number => {
    const number = order.size;
    order.set(file, number);
    open.push(file);
    let earliest = number;
    for (const imported of imports.get(file) ?? []) {
      if (!order.has(imported)) earliest = Math.min(earliest, visit(imported));
      else if (open.includes(imported)) earliest = Math.min(earliest, order.get(imported) as number);
    }
    if (earliest === number) {
      const tangle = open.splice(open.indexOf(file));
      if (tangle.length > 1) tangles.push(tangle.toSorted());
    }
    return earliest;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return tangles;
}
