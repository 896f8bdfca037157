import { readFile } from 'node:fs/promises';
import type { Problem } from '../problem.ts';
import { type Program, literalSettings } from '../program.ts';
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
  if (isModuleScenario(options.file)) return checkModule(text, options);
  const { program, problems } = checkScenario(text, options);
  if (!program || !options.compile) return { program, problems };
  const found = await scriptProblems(program, options.compile);
  return { program: found.length === 0 ? program : undefined, problems: [...problems, ...found] };
}

/** Mistakes in the scripts of blocks. */
async function scriptProblems(
  { blocks, file }: Program,
  compile: NonNullable<ModuleCheckOptions['compile']>,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { component, settings, name, line: blockLine } of blocks.values()) {
    if (component.name !== 'script') continue;
    const { code, language } = literalSettings(settings);
    if (typeof code !== 'string') continue;
    const result = await compile({ source: code, format: language === 'js' ? 'js' : 'ts', kind: 'block', file });
    for (const { line, message } of result.ok ? [] : result.problems)
      problems.push({
        file,
        line: blockLine,
        column: 1,
        message: `the script of "${name}", its line ${line}: ${message}`,
      });
  }
  return problems;
}
