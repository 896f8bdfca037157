/** The files of scenarios: where they are, whether they have changed, and their check. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { checkFile, isBlockScenario, isModuleScenario, modulesBeside, type ReadModule } from '../language/index.ts';
import type { CompileResult, ScriptSource } from '../sandbox/index.ts';
import type { ComponentRegistry } from './component.ts';

export interface CheckOptions {
  readonly components: ComponentRegistry;
  /** Checks modules for mistakes (`Sandbox.compile`); without it, mistakes show at run time. */
  readonly compile?: (source: ScriptSource) => Promise<CompileResult>;
}

/** Files that are being read and checked. */
export type FileChecks = Map<string, FileCheck>;

interface FileCheck {
  readonly stamp: string;
  readonly checked: Promise<CheckedFile>;
}

/** A file as it was found. */
export interface CheckedFile extends Awaited<ReturnType<typeof checkFile>> {
  /** Stamps of the files that it imports. */
  readonly uses: ReadonlyMap<string, string>;
  /** Stamps of the folders of prompts. */
  readonly prompts: readonly (readonly [string, string])[];
}

/** Begins to check the files of the folders, for a library that is opened later and reports what is found. */
export async function beginChecks(
  options: CheckOptions & { readonly folders: readonly string[] },
): Promise<FileChecks> {
  const checks = new Map<string, FileCheck>();
  for (const file of await filesOf(options.folders)) {
    const stamp = await stampOf(file);
    if (stamp === undefined) continue;
    const checked = check(file, options);
    checked.catch(() => undefined);
    checks.set(file, { stamp, checked });
  }
  return checks;
}

/** @throws Error for a file that cannot be read */
export async function check(file: string, { components, compile }: CheckOptions): Promise<CheckedFile> {
  const uses = new Map<string, string>();
  const prompts = await stampedFolders(path.join(path.dirname(file), 'prompts'));
  const beside = modulesBeside(file, scenarioNames);
  const readModule: ReadModule = async (name) => {
    const module = path.join(path.dirname(file), name);
    // Before it is read: a change in between is found by the next look.
    uses.set(module, (await stampOf(module)) ?? MISSING);
    return await beside(name);
  };
  return { ...(await checkFile({ file, components, readModule, ...(compile ? { compile } : {}) })), uses, prompts };
}

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
const MISSING = '-';

/** The stamps of a file and of those that it uses; undefined when the file is missing. */
export async function stampsOf(file: string, uses: readonly string[]): Promise<string | undefined> {
  const own = await stampOf(file);
  if (own === undefined) return undefined;
  return [own, ...(await Promise.all(uses.map(async (each) => (await stampOf(each)) ?? MISSING)))].join(' ');
}

async function scenarioNames(folder: string): Promise<readonly string[]> {
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
async function stampedFolders(folder: string): Promise<readonly (readonly [string, string])[]> {
  const inside = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const folders = [folder, ...inside.filter((each) => each.isDirectory()).map(({ name }) => path.join(folder, name))];
  return Promise.all(folders.map(async (each) => [each, (await stampOf(each)) ?? MISSING] as const));
}

async function stampOf(file: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size } = await stat(file);
    return `${mtimeMs}/${size}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
