import { readFile } from 'node:fs/promises';
import { isModuleScenario } from '../files.ts';
import { type ModuleCheckOptions, checkModule } from './check-module.ts';
import { type CheckResult, checkScenario } from './check-scenario.ts';

/**
 * Reads and checks a scenario file of either kind.
 * @throws what reading the file throws
 */
export async function checkFile(options: ModuleCheckOptions): Promise<CheckResult & { readonly text: string }> {
  const text = await readFile(options.file, 'utf8');
  return { ...(await checkText(text, options)), text };
}

/** The same for a text that is at hand; the name of the file says of which kind it is. */
export async function checkText(text: string, options: ModuleCheckOptions): Promise<CheckResult> {
  return isModuleScenario(options.file) ? checkModule(text, options) : checkScenario(text, options);
}
