/** Kinds of files in a scenario folder. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';

export function isTestFile(name: string): boolean {
  return /\.test\.ya?ml$/.test(name);
}

/** A YAML scenario: `*.yaml`, tests excluded. */
export function isBlockScenario(name: string): boolean {
  return /\.ya?ml$/.test(name) && !isTestFile(name);
}

/** A module: `*.js`, `*.ts`, tests and declarations excluded. */
export function isModuleScenario(name: string): boolean {
  return /\.[jt]s$/.test(name) && !/\.(test|d)\.[jt]s$/.test(name);
}

/** Files of a folder and the folders in it, in order; hidden folders and `node_modules` are left out. */
export async function filesBelow(folder: string, wanted: (name: string) => boolean): Promise<string[]> {
  const found: string[] = [];
  const entries = (await readdir(folder, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const file = path.join(folder, entry.name);
    if (entry.isFile() && wanted(entry.name)) found.push(file);
    if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules') {
      found.push(...(await filesBelow(file, wanted)));
    }
  }
  return found;
}
