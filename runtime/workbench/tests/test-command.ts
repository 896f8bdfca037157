/** The `test` command. */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  checkFile,
  filesBelow,
  formatProblem,
  isTestFile,
  type ModuleCheckOptions,
  type Program,
} from '../../language/index.ts';
import type { ComponentRegistry } from '../../runs/index.ts';
import { counted } from '../../words/index.ts';
import { compiling } from '../simulation/compiling.ts';
import type { ClassesFor, SimulatedClasses } from '../simulation/simulated-model.ts';
import type { SimulationOptions } from '../simulation/simulation.ts';
import { type TestRun, runTest } from './run-test.ts';
import { type ScenarioTest, readTestFile } from './test-file.ts';
import { transcript } from '../simulation/transcript.ts';

/** Limit of failed tests with a shown transcript. */
const SHOWN = 20;

interface TestResult extends TestRun {
  readonly file: string;
  readonly test: ScenarioTest;
}

export interface TestOptions extends Pick<SimulationOptions, 'openSandbox' | 'select'> {
  readonly classesFor?: ClassesFor;
  /** Prints the transcripts of all tests. */
  readonly show?: boolean;
}

/**
 * The `test` command: runs the scripted-caller tests (`*.test.yaml`) of files and folders, and reports failed tests with their
 * transcripts; with `show`, every test.
 * @returns the exit code: 0 when all pass, 1 when one fails or a file has mistakes, 2 without any test
 */
export async function runTests(
  targets: readonly string[],
  components: ComponentRegistry,
  out: (line: string) => void,
  { openSandbox, select, classesFor, show = false }: TestOptions = {},
): Promise<number> {
  const files: string[] = [];
  for (const target of targets) files.push(...(await testFiles(target)));
  const results: TestResult[] = [];
  let mistakes = 0;
  const began = performance.now();
  for (const file of files) {
    const classes = await classesFor?.(path.dirname(file));
    const loaded = await load(file, { components, ...compiling(openSandbox) }, classes);
    for (const problem of loaded.problems) out(problem);
    mistakes += loaded.problems.length;
    const { program } = loaded;
    if (!program) continue;
    for (const test of loaded.tests)
      results.push({ file, test, ...(await runTest(test, program, { components, openSandbox, select, classes })) });
  }
  report(results, show, out);
  const failed = results.filter(({ found }) => found.length > 0).length;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const broken = mistakes === 0 ? '' : `, ${counted(mistakes, 'mistake')} in files`;
  out(`${results.length - failed} passed, ${failed} failed${broken} (${counted(files.length, 'file')}, ${seconds}s)`);
  if (results.length === 0 && mistakes === 0) return 2;
  return failed > 0 || mistakes > 0 ? 1 : 0;
}

async function testFiles(target: string): Promise<string[]> {
  try {
    if ((await stat(target)).isDirectory()) return await filesBelow(target, isTestFile);
    return [isTestFile(target) ? target : testsBeside(target)];
  } catch {
    // The reader below reports it.
    return [target];
  }
}

/** `menu.yaml` is tested by `menu.test.yaml`. */
function testsBeside(scenario: string): string {
  return scenario.replace(/\.(?:ya?ml|ts|js)$/, '.test.yaml');
}

interface LoadedTests {
  readonly tests: readonly ScenarioTest[];
  readonly program: Program | undefined;
  readonly problems: readonly string[];
}

async function load(
  file: string,
  options: Omit<ModuleCheckOptions, 'file'>,
  classes: SimulatedClasses | undefined,
): Promise<LoadedTests> {
  try {
    const { tests, problems } = readTestFile(await readFile(file, 'utf8'), file, classes);
    if (problems.length > 0) return { tests: [], program: undefined, problems: problems.map(formatProblem) };
    const scenario = path.join(path.dirname(file), tests.scenario ?? (await namesake(file)));
    const checked = await checkFile({ ...options, file: scenario });
    return {
      tests: tests.tests,
      program: checked.program,
      problems: checked.program ? [] : checked.problems.map(formatProblem),
    };
  } catch (error) {
    const { code, path: missing } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { tests: [], program: undefined, problems: [unreadable(file, missing ?? file, code)] };
  }
}

/** The report of a test file that cannot be read, or whose scenario cannot. */
function unreadable(file: string, missing: string, code: string): string {
  if (code !== 'ENOENT') return `${missing}:1:1: the file cannot be read (${code})`;
  if (missing === file) return `${file}:1:1: the file cannot be read (no such file)`;
  const name = path.relative(path.dirname(file), missing);
  return `${file}:1:1: there is no scenario ${name} for these tests; write scenario: FILE.yaml at the top of the file`;
}

/** `menu.test.yaml` tests `menu.yaml`, or `menu.ts` or `menu.js` where it exists. */
async function namesake(file: string): Promise<string> {
  const stem = file.replace(/\.test\.ya?ml$/, '');
  for (const extension of ['.yaml', '.yml', '.ts', '.js']) {
    const found = await stat(stem + extension).catch(() => undefined);
    if (found) return path.basename(stem + extension);
  }
  return path.basename(`${stem}.yaml`);
}

/** @param all shows passed tests, too */
function report(results: readonly TestResult[], all: boolean, out: (line: string) => void): void {
  let shown = 0;
  for (const { file, test, found, simulation } of results) {
    if (found.length === 0 && !all) continue;
    out(`${found.length === 0 ? 'passed' : 'FAILED'} ${file}:${test.line}: ${test.name}`);
    for (const line of found) out(`  ${line}`);
    shown += 1;
    if (simulation && (all || shown <= SHOWN)) for (const line of transcript(simulation)) out(`    ${line}`);
  }
}
