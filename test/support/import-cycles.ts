import { posix } from 'node:path';

/** Imports and re-exports that Node follows when it loads the file: all but those that begin with `import type`. */
const LOADED = /^(?:import|export)\s+(?!type\s)(?:[^'"`;]*?\sfrom\s+)?'(\.[^']+)'/gm;

/**
 * Files of the project that a file loads.
 * @param file path from the root of the project, with slashes
 */
export function loadedBy(file: string, source: string): string[] {
  return [...source.matchAll(LOADED)].map(([, specifier = '']) => posix.join(posix.dirname(file), specifier));
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
