import { readFile } from 'node:fs/promises';
import { checkScenario } from './checker/check-scenario.ts';
import type { ComponentRegistry } from './component.ts';
import { formatProblem } from './problem.ts';

/**
 * The `check` command: prints every mistake of the files as `file:line:col: message`, and nothing when there is none.
 * @returns the exit code: 1 when a file has mistakes or cannot be read, else 0
 */
export async function runCheck(
  files: readonly string[],
  components: ComponentRegistry,
  out: (line: string) => void,
): Promise<number> {
  let code = 0;
  for (const file of files) {
    const problems = await problemsOf(file, components);
    for (const problem of problems) out(problem);
    if (problems.length > 0) code = 1;
  }
  return code;
}

async function problemsOf(file: string, components: ComponentRegistry): Promise<string[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return [`${file}:1:1: the file cannot be read (${code === 'ENOENT' ? 'there is none' : (code ?? String(error))})`];
  }
  return checkScenario(text, { file, components }).problems.map(formatProblem);
}
