/** The files of scenarios: their names, and stamps that tell whether they have changed. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isBlockScenario, isModuleScenario } from '../language/index.ts';

/** True when a file of a scenario has another stamp than it was read with, and all were last changed before a time. */
export async function wasWritten(
  files: readonly string[],
  before: number,
  stamp: string | undefined,
): Promise<boolean> {
  const [own = '', ...uses] = files;
  const now = await stampsOf(own, uses);
  if (now === undefined || now === stamp) return false;
  const times = await Promise.all(files.map(async (file) => (await stat(file).catch(() => undefined))?.ctimeMs ?? 0));
  return Math.max(...times) < before;
}

/** The stamp of a missing file. */
export const MISSING = '-';

/** The stamps of a file and of those that it uses; undefined when the file is missing. */
export async function stampsOf(file: string, uses: readonly string[]): Promise<string | undefined> {
  const own = await stampOf(file);
  if (own === undefined) return undefined;
  return [own, ...(await Promise.all(uses.map(async (each) => (await stampOf(each)) ?? MISSING)))].join(' ');
}

/** Names of the modules in a folder. */
export async function moduleNames(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter(isModuleScenario);
}

/** The scenario files of the folders. A missing folder counts as empty. */
export async function filesOf(folders: readonly string[]): Promise<readonly string[]> {
  return (await Promise.all(folders.map(scenarioFiles))).flat();
}

async function scenarioFiles(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => isBlockScenario(name) || isModuleScenario(name))
      .toSorted()
      .map((name) => path.resolve(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A folder and those in it, with their stamps: a new or removed file changes that of its folder. */
export async function stampedFolders(folder: string): Promise<readonly (readonly [string, string])[]> {
  const inside = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const folders = [folder, ...inside.filter((each) => each.isDirectory()).map(({ name }) => path.join(folder, name))];
  return Promise.all(folders.map(async (each) => [each, (await stampOf(each)) ?? MISSING] as const));
}

/** Modification time and size; undefined for a missing file. */
export async function stampOf(file: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size } = await stat(file);
    return `${mtimeMs}/${size}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
