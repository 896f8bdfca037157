/** A test made of a run: shown, copied, and saved with the tests of the script. */
import { useSignal } from '@preact/signals';
import { type MadeTest, type RanScenario, testOf, withTest } from '../../authors/runs.ts';
import { isFile, pathOf } from '../../authors/scenario-types.ts';
import { keptTests } from '../../authors/kept-tests.ts';
import { read, send } from '../../lib/api.ts';
import { Problem } from '../../parts/problem.tsx';
import { orToast, toast } from '../../parts/toasts.tsx';
import { words } from '../../words/run-pages.ts';
import type { Script } from '../../authors/scenario-types.ts';

interface MadeTestCardProps {
  readonly id: string;
  readonly ran: RanScenario | undefined;
}

export function MadeTestCard({ id, ran }: MadeTestCardProps) {
  const made = useSignal<MadeTest | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const isKept = useSignal(false);
  const make = (): void => {
    failure.value = undefined;
    testOf(id).then(
      (found) => (made.value = found),
      (error: unknown) => (failure.value = error),
    );
  };
  const { value: test } = made;
  if (test === undefined)
    return (
      <section class="card">
        <h2>{words('madeTest')}</h2>
        <div class="buttons">
          <button type="button" onClick={make}>
            {words('makeTest')}
          </button>
        </div>
        <Problem error={failure.value} />
      </section>
    );
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(test.test);
    toast(words('copied'));
  };
  const keep = async (of: RanScenario): Promise<void> => {
    await keepTest(of, test);
    isKept.value = true;
    toast(words('kept'));
  };
  return (
    <section class="card">
      <h2>{words('madeTest')}</h2>
      <p>{words(test.tried ? 'tried' : 'notTried')}</p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <pre tabIndex={0} class="made-test">
        {test.test}
      </pre>
      <div class="buttons">
        <button type="button" onClick={() => orToast(copy())}>
          {words('copy')}
        </button>
        {ran !== undefined && !isFile(ran.script) && (
          <button type="button" disabled={isKept.value} onClick={() => orToast(keep(ran))}>
            {words('keep')}
          </button>
        )}
      </div>
    </section>
  );
}

async function keepTest({ kind, script: { id } }: RanScenario, made: MadeTest): Promise<void> {
  const path = `${pathOf(kind)}/${encodeURIComponent(id)}`;
  // Its tests may have changed since the page was opened.
  const { ext } = await read<Script>(path);
  let tests: string;
  try {
    tests = await withTest(keptTests(ext), made);
  } catch (error) {
    throw new Error(words('wrongTests', { reason: String(error) }), { cause: error });
  }
  await send('PATCH', path, { ext: { ...ext, tests } });
}
