/** Checks of scenario files, which can begin before their library is opened. */
import path from 'node:path';
import { checkFile, modulesBeside, type ReadModule } from '../language/index.ts';
import type { CompileResult, ScriptSource } from '../sandbox/index.ts';
import type { ComponentRegistry } from './component.ts';
import { filesOf, MISSING, moduleNames, stampedFolders, stampOf } from './scenario-files.ts';

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
    const checked = checkScenarioFile(file, options);
    // Reported by the library.
    checked.catch(() => undefined);
    checks.set(file, { stamp, checked });
  }
  return checks;
}

/** @throws Error for a file that cannot be read */
export async function checkScenarioFile(file: string, { components, compile }: CheckOptions): Promise<CheckedFile> {
  const uses = new Map<string, string>();
  const prompts = await stampedFolders(path.join(path.dirname(file), 'prompts'));
  const beside = modulesBeside(file, moduleNames);
  const readModule: ReadModule = async (name) => {
    const module = path.join(path.dirname(file), name);
    // Before it is read: a change in between is found by the next look.
    uses.set(module, (await stampOf(module)) ?? MISSING);
    return await beside(name);
  };
  return { ...(await checkFile({ file, components, readModule, ...(compile ? { compile } : {}) })), uses, prompts };
}
