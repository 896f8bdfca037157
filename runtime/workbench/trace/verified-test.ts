/** Makes a test from a run, and runs it. */
import type { Program } from '../../language/index.ts';
import type { RunView, TraceEntry } from '../../runs/index.ts';
import { type TestTools, runTest } from '../tests/run-test.ts';
import { readTestFile } from '../tests/test-file.ts';
import { asTest, type ServedRuns } from './as-test.ts';
import { ReplayError } from './replayable.ts';

/**
 * The test of a run, which passes.
 * @param program the scenario of the run, in its version
 * @param served the runs from `servedBy`
 * @throws ReplayError when no test can repeat the run, or the made test fails; it names the block
 */
export async function verifiedTest(
  view: RunView,
  served: ServedRuns,
  program: Program,
  tools: TestTools,
): Promise<string> {
  const text = asTest(view, served, tools.classes !== undefined);
  const { tests, problems } = readTestFile(text, 'made.test.yaml', tools.classes);
  const [test] = tests.tests;
  const [problem] = problems;
  if (problem !== undefined || test === undefined)
    throw new ReplayError('', `the made test has a mistake: ${problem?.message ?? 'it is empty'}`);
  const { found, simulation } = await runTest(test, program, tools);
  const [first] = found;
  if (first === undefined) return text;
  const block = differing(view.trace, simulation?.run.trace ?? []);
  throw new ReplayError(block, `the made test takes another way: ${first}`);
}

/** The first block that ends otherwise in the test. */
function differing(live: readonly TraceEntry[], simulated: readonly TraceEntry[]): string {
  const index = live.findIndex(
    ({ block, exit }, at) => exit !== undefined && (simulated[at]?.block !== block || simulated[at].exit !== exit),
  );
  return live[index]?.block ?? live.at(-1)?.block ?? '';
}
