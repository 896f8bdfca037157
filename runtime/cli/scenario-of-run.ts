/** Finds the scenario of a run of a node among the files of this machine. */
import path from 'node:path';
import process from 'node:process';
import { components } from '../component-registry/index.ts';
import { checkFile, type Program } from '../language/index.ts';
import type { RunView } from '../runs/index.ts';
import type { CompileResult, ScriptSource } from '../sandbox/index.ts';

/** Scenarios that come with Ringmaster. */
const EXAMPLES = path.resolve(import.meta.dirname, '../../scenarios/examples');

/**
 * The program of a run: the file of its name and version, here, in the folder of the node's scenarios, or among the examples.
 * @param given the file, where the author names it
 * @returns or the reason why there is none
 */
export async function scenarioOfRun(
  { file, version, hash = version }: Pick<RunView, 'file' | 'version' | 'hash'>,
  given: string | undefined,
  compile: (source: ScriptSource) => Promise<CompileResult>,
): Promise<Program | string> {
  const { RINGMASTER_SCENARIO_DIR: folder, RINGMASTER_DATA_DIR: data } = process.env;
  const own = folder === undefined || folder === '' ? path.join(data || 'data', 'scenarios') : folder;
  const files = given === undefined ? ['.', own, EXAMPLES].map((each) => path.join(each, file)) : [given];
  let changed: string | undefined;
  for (const each of files) {
    const checked = await checkFile({ file: each, components, compile }).catch(unreadable);
    if (checked?.program?.version === hash) return checked.program;
    if (checked) changed ??= each;
  }
  if (changed !== undefined) return `${changed} is not the version of the run, which was ${version}`;
  if (given !== undefined) throw new TypeError(`${given} cannot be read`);
  return `${file} is not on this machine; name it by --scenario FILE`;
}

function unreadable(error: NodeJS.ErrnoException): undefined {
  if (error.syscall === undefined) throw error;
}
