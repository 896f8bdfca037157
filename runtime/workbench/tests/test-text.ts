/** Runs the tests of a text, for programs. */
import type { Problem, Program } from '../../language/index.ts';
import { type SimulatedRunView, simulationView } from '../simulation/simulation-view.ts';
import { runTest, type TestTools } from './run-test.ts';
import { readTestFile } from './test-file.ts';

/** The result of one test. */
export interface TestedCase {
  readonly name: string;
  /** Its line in the text, counted from 1. */
  readonly line: number;
  readonly passed: boolean;
  /** The unmet expectations, one sentence each. */
  readonly found: readonly string[];
  /** Absent when the scenario could not be started. */
  readonly run?: SimulatedRunView;
}

export interface TestedText {
  /** Mistakes of the text; with one, no test runs. */
  readonly problems: readonly Omit<Problem, 'file'>[];
  readonly tests: readonly TestedCase[];
}

/** Runs all tests of a text in the form of a test file. */
export async function testText(text: string, program: Program, tools: TestTools): Promise<TestedText> {
  const { tests, problems } = readTestFile(text, 'tests', tools.classes);
  if (problems.length > 0) return { problems: problems.map(({ file: _file, ...problem }) => problem), tests: [] };
  const results: TestedCase[] = [];
  for (const test of tests.tests) {
    const { name, line } = test;
    const { found, simulation } = await runTest(test, program, tools).catch(neverEnding);
    const run = simulation && simulationView(simulation);
    results.push({ name, line, passed: found.length === 0, found, ...(run && { run }) });
  }
  return { problems: [], tests: results };
}

/** A simulation that cannot end is a failed test. */
function neverEnding(error: unknown): { readonly found: readonly string[]; readonly simulation?: undefined } {
  return { found: [error instanceof Error ? error.message : String(error)] };
}
