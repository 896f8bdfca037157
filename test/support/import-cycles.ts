import { posix } from 'node:path';

/** Imports and re-exports that Node follows when it loads the file: all but those that begin with `import type`. */
const LOADED = /^(?:import|export)\s+(?!type\s)(?:[^'"`;]*?\sfrom\s+)?'(\.[^']+)'/gm;

/** Imports and re-exports of any kind, types alone included. */
const NAMED = /^(?:import|export)\s+(?:[^'"`;]*?\sfrom\s+)?'(\.[^']+)'/gm;

/**
 * Files of the project that a file loads.
 * @param file path from the root of the project, with slashes
 */
export function loadedBy(file: string, source: string): string[] {
  return specifiers(file, source, LOADED);
}

/** Files of the project that a file imports, those that it imports for types alone included: see {@link loadedBy}. */
export function importedBy(file: string, source: string): string[] {
  return specifiers(file, source, NAMED);
}

function specifiers(file: string, source: string, pattern: RegExp): string[] {
  return [...source.matchAll(pattern)].map(([, specifier = '']) => posix.join(posix.dirname(file), specifier));
}

/**
 * Circles among files that load each other: at least one of each group that hangs together.
 * @param loads what each file loads
 * @returns the files of each circle in the order in which they load each other
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
 * Files of which each leads to each other by imports (strongly connected components, by Tarjan's algorithm).
 * @param imports what each file imports
 * @returns groups of two and more files, sorted
 */
export function importTangles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const tangles: string[][] = [];
  const order = new Map<string, number>();
  const open: string[] = [];
  /** The earliest open file that a file leads to, by its number in `order`. */
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
