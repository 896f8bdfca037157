/** The `check` command. */
import { readFile, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { CompileResult, ScriptSource } from '../sandbox/index.ts';
import {
  type CheckedScenario,
  checkFile,
  type CheckResult,
  checkTogether,
  filesBelow,
  formatProblem,
  isBlockScenario,
  isModuleScenario,
  isTestFile,
  type ModuleCheckOptions,
  type Problem,
} from '../language/index.ts';
import type { ComponentRegistry } from '../runs/index.ts';
import { readTestFile } from './tests/test-file.ts';

/** Number of files that are read concurrently. */
const AT_ONCE = 32;

export interface CheckCommandOptions {
  /** Prints one JSON array of all mistakes instead of a line for each. */
  readonly json?: boolean;
  /** Checks modules for mistakes; called only for modules. */
  readonly compile?: (source: ScriptSource) => Promise<CompileResult>;
}

/**
 * The `check` command: prints every mistake of the files, and of all scenarios and tests in folders, as
 * `file:line:col: message`, and nothing without mistakes.
 * @returns the exit code: 1 when a file has mistakes other than warnings, or cannot be read, else 0
 */
export async function runCheck(
  targets: readonly string[],
  components: ComponentRegistry,
  out: (line: string) => void,
  { json = false, compile }: CheckCommandOptions = {},
): Promise<number> {
  const problems: Problem[] = [];
  const scenarios: CheckedScenario[] = [];
  for (const target of targets) {
    const files = await filesOf(target);
    for (let start = 0; start < files.length; start += AT_ONCE) {
      const batch = files
        .slice(start, start + AT_ONCE)
        .map((file) => resultOf({ file, components, ...(compile ? { compile } : {}) }));
      for (const result of await Promise.all(batch)) {
        problems.push(...result.problems);
        scenarios.push(...scenarioOf(result));
      }
    }
  }
  problems.push(...checkTogether(scenarios, await neighbours(scenarios, components)));
  // A mistake in a module is found by each scenario that imports it.
  const told = new Map(problems.map((each) => [formatProblem(each), each]));
  problems.splice(0, problems.length, ...told.values());
  problems.sort((a, b) => (a.file === b.file ? a.line - b.line || a.column - b.column : 0));
  if (json) out(JSON.stringify(problems, undefined, 2));
  else for (const problem of problems) out(formatProblem(problem));
  return problems.some(({ severity }) => severity !== 'warning') ? 1 : 0;
}

async function filesOf(target: string): Promise<string[]> {
  try {
    if (!(await stat(target)).isDirectory()) return [target];
  } catch {
    // Reading the file reports the error.
    return [target];
  }
  return filesBelow(target, (name) => isBlockScenario(name) || isModuleScenario(name) || isTestFile(name));
}

/** Further scenarios in the folders of those that start others: possible targets of their references. */
async function neighbours(
  scenarios: readonly CheckedScenario[],
  components: ComponentRegistry,
): Promise<CheckedScenario[]> {
  const checked = new Set(scenarios.map(({ program }) => path.resolve(program.file)));
  const starting = scenarios.filter(({ references }) => references.length > 0);
  const folders = new Set(starting.map(({ program }) => path.dirname(path.resolve(program.file))));
  const names = await Promise.all(
    [...folders].map(async (folder) => (await readdir(folder)).map((name) => path.join(folder, name))),
  );
  const files = names.flat().filter((file) => !checked.has(file) && (isBlockScenario(file) || isModuleScenario(file)));
  const found = await Promise.all(files.map((file) => resultOf({ file, components })));
  return found.flatMap(scenarioOf);
}

type Result = Pick<CheckResult, 'program' | 'draft' | 'problems' | 'references'>;

/** The scenario with its references, for the checks between scenarios; also with mistakes of its own. */
function scenarioOf({ program, draft, references }: Result): CheckedScenario[] {
  if (program) return [{ program, references }];
  return draft ? [{ program: draft, references, broken: true }] : [];
}

async function resultOf(options: ModuleCheckOptions): Promise<Result> {
  const { file } = options;
  try {
    if (isTestFile(file))
      return {
        program: undefined,
        problems: readTestFile(await readFile(file, 'utf8'), file).problems,
        references: [],
      };
    return await checkFile(options);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    const why = code === 'ENOENT' ? 'no such file' : (code ?? String(error));
    const problem = { file, line: 1, column: 1, message: `the file cannot be read (${why})` };
    return { program: undefined, problems: [problem], references: [] };
  }
}
