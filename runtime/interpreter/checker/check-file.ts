import { readFile } from 'node:fs/promises';
import type { Problem } from '../problem.ts';
import { isModuleScenario } from '../files.ts';
import { type ModuleCheckOptions, checkModule } from './check-module.ts';
import { type CheckResult, checkScenario } from './check-scenario.ts';
import type { ScriptSite } from './scripts.ts';

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
  const checked = checkScenario(text, options);
  if (!options.compile || checked.scripts.length === 0) return checked;
  const found = await scriptProblems(checked.scripts, options.file, options.compile);
  if (found.length === 0) return checked;
  const problems = [...checked.problems, ...found].toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { ...checked, program: undefined, problems };
}

/** Mistakes in the scripts of blocks, where they stand in the file. */
async function scriptProblems(
  scripts: readonly ScriptSite[],
  file: string,
  compile: NonNullable<ModuleCheckOptions['compile']>,
): Promise<Problem[]> {
  const results = await Promise.all(
    scripts.map(async ({ source, format, place }) => {
      const result = await compile({ source, format, kind: 'block', file });
      return result.ok
        ? []
        : result.problems.map(({ line, column, message }) => ({ file, ...place(line, column), message }));
    }),
  );
  return results.flat();
}
