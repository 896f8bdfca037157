/** So many files with failures run again. More have a common cause. */
const MOST = 6;

/** What is another in a lane that runs again: all tests of its files, whichever the lane had left alone. */
interface Again {
  readonly name: string;
  readonly files: string[];
  readonly only: undefined;
}

interface Result {
  readonly lane: { readonly name: string };
  readonly passes: number;
  readonly failures: number;
  readonly failed: readonly { readonly file: string; readonly title: string }[];
  readonly end: string;
}

/**
 * Tests of calls watch the time, and a whole run keeps all processors busy. So files with failures run again, alone. The
 * tests of those that pass then count as passed, and are printed as unsteady below the first failure: they have a race,
 * or too little patience, and are to be mended. What fails again is printed below its first failure.
 * @param results of lanes: `{ lane, passes, failures, failed, end }`; `failed` are tests with their file
 * @param run runs the lane of a result, with what is another
 * @returns the results, as they count
 */
export async function judgedAlone<Of extends Result>(
  results: readonly Of[],
  run: (result: Of, again: Again) => Promise<Pick<Result, 'failures' | 'end'>>,
): Promise<readonly Of[]> {
  const failing = results.filter(({ failures }) => failures > 0);
  // A failure that is no test's is the process's own: it left something open, or ended early.
  const isOfTests = failing.every(({ failures, failed }) => failures === failed.length);
  const files = new Set(failing.flatMap(({ failed }) => failed.map(({ file }) => file)));
  if (!isOfTests || files.size > MOST) return results;
  const judged = new Map<Of, Of>();
  for (const result of failing) {
    const { lane, passes, failed, end } = result;
    const own = [...new Set(failed.map(({ file }) => file))];
    const again = await run(result, { name: `${lane.name}-again`, files: own, only: undefined });
    if (again.failures > 0) {
      judged.set(result, { ...result, end: `${end}\n  again, alone:\n${again.end}` });
      continue;
    }
    const titles = failed.map(({ title }) => `  unsteady, failed once and passed alone: ${title}\n`);
    judged.set(result, { ...result, passes: passes + failed.length, failures: 0, end: [end, ...titles].join('\n') });
  }
  return results.map((result) => judged.get(result) ?? result);
}
