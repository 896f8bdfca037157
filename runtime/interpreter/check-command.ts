import { readFile, stat } from 'node:fs/promises';
import type { CompileResult, ScriptSource } from '../sandbox/index.ts';
import { checkFile } from './checker/check-file.ts';
import type { ModuleCheckOptions } from './checker/check-module.ts';
import type { ComponentRegistry } from './component.ts';
import { filesBelow, isBlockScenario, isModuleScenario, isTestFile } from './files.ts';
import { type Problem, formatProblem } from './problem.ts';
import { readTestFile } from './simulation/test-file.ts';

/** Files that are read at once. */
const AT_ONCE = 32;

export interface CheckCommandOptions {
  /** One JSON array of all mistakes instead of a line for each. */
  readonly json?: boolean;
  /** Looks for mistakes in modules; called when there is one. */
  readonly compile?: (source: ScriptSource) => Promise<CompileResult>;
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
  { json = false, compile }: CheckCommandOptions = {},
): Promise<number> {
  const problems: Problem[] = [];
  for (const target of targets) {
    const files = await filesOf(target);
    for (let start = 0; start < files.length; start += AT_ONCE) {
      const batch = files
        .slice(start, start + AT_ONCE)
        .map((file) => problemsOf({ file, components, ...(compile ? { compile } : {}) }));
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
  return filesBelow(target, (name) => isBlockScenario(name) || isModuleScenario(name) || isTestFile(name));
}

async function problemsOf(options: ModuleCheckOptions): Promise<readonly Problem[]> {
  const { file } = options;
  try {
    if (isTestFile(file)) return readTestFile(await readFile(file, 'utf8'), file).problems;
    return (await checkFile(options)).problems;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    const why = code === 'ENOENT' ? 'there is none' : (code ?? String(error));
    return [{ file, line: 1, column: 1, message: `the file cannot be read (${why})` }];
  }
}
