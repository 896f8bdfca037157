import { readFile, stat } from 'node:fs/promises';
import { checkScenario } from './checker/check-scenario.ts';
import type { ComponentRegistry } from './component.ts';
import { filesBelow, isBlockScenario, isTestFile } from './files.ts';
import { type Problem, formatProblem } from './problem.ts';
import { readTestFile } from './simulation/test-file.ts';

/** Files that are read at once. */
const AT_ONCE = 32;

export interface CheckCommandOptions {
  /** One JSON array of all mistakes instead of a line for each. */
  readonly json?: boolean;
}

/**
 * The `check` command: prints every mistake of the files, and of all scenarios and tests in folders, as
 * `file:line:col: message`, and nothing when there is none.
 * @returns the exit code: 1 when a file has mistakes or cannot be read, else 0
 */
export async function runCheck(
  targets: readonly string[],
  components: ComponentRegistry,
  out: (line: string) => void,
  { json = false }: CheckCommandOptions = {},
): Promise<number> {
  const problems: Problem[] = [];
  for (const target of targets) {
    const files = await filesOf(target);
    for (let start = 0; start < files.length; start += AT_ONCE) {
      const batch = files.slice(start, start + AT_ONCE).map((file) => problemsOf(file, components));
      problems.push(...(await Promise.all(batch)).flat());
    }
  }
  if (json) out(JSON.stringify(problems, undefined, 2));
  else for (const problem of problems) out(formatProblem(problem));
  return problems.length > 0 ? 1 : 0;
}

async function filesOf(target: string): Promise<string[]> {
  try {
    if (!(await stat(target)).isDirectory()) return [target];
  } catch {
    // Whoever reads it says so.
    return [target];
  }
  return filesBelow(target, (name) => isBlockScenario(name) || isTestFile(name));
}

async function problemsOf(file: string, components: ComponentRegistry): Promise<readonly Problem[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is none' : (code ?? String(error));
    return [{ file, line: 1, column: 1, message: `the file cannot be read (${why})` }];
  }
  return isTestFile(file) ? readTestFile(text, file).problems : checkScenario(text, { file, components }).problems;
}
