/** Finds the other scenarios of a folder, for simulations that start them. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  checkFile,
  isBlockScenario,
  isMistake,
  isModuleScenario,
  type ModuleCheckOptions,
  type Problem,
  type Program,
  ScenarioError,
} from '../../language/index.ts';

/**
 * The scenario of a folder with this id; of several, the first by the names of their files. Files of other scenarios are not
 * checked.
 * @throws ScenarioError code `no_such_scenario`: the scenario has mistakes
 */
export async function findScenario(
  folder: string,
  options: Omit<ModuleCheckOptions, 'file'>,
  id: string,
): Promise<Program | undefined> {
  let broken: Problem | undefined;
  for (const name of (await readdir(folder)).toSorted()) {
    const file = path.join(folder, name);
    if (!(await mayBe(id, file))) continue;
    const { program, draft, problems } = await checkFile({ ...options, file });
    if (program?.id === id) return program;
    if ((draft?.id ?? stemOf(name)) === id) broken ??= problems.find(isMistake);
  }
  if (broken === undefined) return undefined;
  const { file, line, column, message } = broken;
  throw new ScenarioError(
    'no_such_scenario',
    `the scenario "${id}" has mistakes: ${path.basename(file)}:${line}:${column}: ${message}`,
  );
}

/** An id on a line of its own, not indented. */
const ID = /^id:[ \t]+(["']?)([\w.-]+)\1[ \t]*(?:#.*)?$/m;

/** True unless the file is certainly another scenario's: a check takes much longer than this look. */
async function mayBe(id: string, file: string): Promise<boolean> {
  const name = path.basename(file);
  if (isModuleScenario(name)) return stemOf(name) === id;
  if (!isBlockScenario(name)) return false;
  const [, , own = id] = ID.exec((await readFile(file, 'utf8')).replaceAll('\r', '')) ?? [];
  return own === id;
}

function stemOf(name: string): string {
  return name.replace(/\.\w+$/, '');
}
