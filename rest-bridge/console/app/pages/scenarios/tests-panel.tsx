/** The tests of a scenario: written, run and shown. A script of the domain keeps them. */
import { type Signal, useSignal } from '@preact/signals';
import Editor from '../../authors/editor/editor.tsx';
import { keptTests } from '../../authors/kept-tests.ts';
import type { OpenScenario } from '../../authors/open-scenario.ts';
import { Replay } from '../../authors/replay.tsx';
import type { Tested } from '../../authors/run-types.ts';
import { isFile } from '../../authors/scenario-types.ts';
import { runTests } from '../../authors/testing.ts';
import { Problem } from '../../parts/problem.tsx';
import { orToast, toast } from '../../parts/toasts.tsx';
import { words } from '../../words/runs.ts';
import type { Played } from './try-panel.tsx';

export interface TestsState extends Played {
  readonly text: Signal<string>;
  readonly tested: Signal<Tested | undefined>;
}

export const FIRST_TEST = 'tests:\n  - name: the caller listens to the end\n    expect: { status: completed }\n';

export function TestsPanel({ open, state }: { readonly open: OpenScenario; readonly state: TestsState }) {
  const failure = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  const { text, tested, run, step } = state;
  const { value: script } = open.script;
  if (script === undefined) return null;
  const runAll = async (): Promise<void> => {
    isBusy.value = true;
    failure.value = undefined;
    run.value = undefined;
    try {
      tested.value = await runTests(open, text.value);
    } catch (error) {
      failure.value = error;
    } finally {
      isBusy.value = false;
    }
  };
  const keep = async (): Promise<void> => {
    await open.change({ ext: { ...script.ext, tests: text.value } });
    toast(words('testsKept'));
  };
  const { problems = [], tests = [] } = tested.value ?? {};
  const failed = tests.filter(({ passed }) => !passed).length;
  return (
    <>
      <div class="tests-text">
        <Editor
          label={words('testsOf', { code: script.code })}
          format="yaml"
          plain
          text={text.value}
          turn={0}
          problems={problems.map(({ line, message, suggestion }) => ({
            line,
            column: 1,
            message,
            ...(suggestion !== undefined && { suggestion }),
          }))}
          onChange={(typed) => (text.value = typed)}
          onSave={() => void runAll()}
        />
      </div>
      <div class="bar">
        <button type="button" class="primary" disabled={isBusy.value} onClick={() => void runAll()}>
          {words('runTests')}
        </button>
        {!isFile(script) && (
          <button
            type="button"
            disabled={text.value === keptTests(script.ext) || open.isChanged}
            onClick={() => orToast(keep())}
          >
            {words('keepTests')}
          </button>
        )}
        <span role="status" class={failed > 0 ? 'mistake' : 'quiet'}>
          {tests.length > 0 && words(failed > 0 ? 'someFailed' : 'allPassed', { n: failed, all: tests.length })}
        </span>
      </div>
      <Problem error={failure.value} />
      {problems.length > 0 && (
        <p class="mistake">
          {problems.map(({ line, message, suggestion }) => `${line}: ${message} ${suggestion ?? ''}`).join('; ')}
        </p>
      )}
      <ul class="results">
        {tests.map((test) => (
          <li key={test.line}>
            <button
              type="button"
              class="quiet"
              aria-pressed={run.value !== undefined && run.value === test.run}
              onClick={() => {
                run.value = test.run;
                step.value = (test.run?.trace.length ?? 1) - 1;
              }}
            >
              <span class={test.passed ? 'badge good' : 'badge bad'}>
                {words(test.passed ? 'passed' : 'notPassed')}
              </span>{' '}
              {test.name}
            </button>
            {test.found.map((line, index) => (
              <p key={index} class="mistake">
                {line}
              </p>
            ))}
          </li>
        ))}
      </ul>
      {run.value !== undefined && <Replay run={run.value} step={step} />}
    </>
  );
}
