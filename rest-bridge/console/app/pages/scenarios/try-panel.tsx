/** A simulation with a scripted caller. */
import { type Signal, useSignal } from '@preact/signals';
import { stepsOf } from '../../authors/caller-steps.ts';
import type { OpenScenario } from '../../authors/open-scenario.ts';
import { Replay } from '../../authors/replay.tsx';
import type { Run } from '../../authors/run-types.ts';
import { runTests } from '../../authors/testing.ts';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { words } from '../../words/runs.ts';

/** The run that the graph shows. */
export interface Played {
  readonly run: Signal<Run | undefined>;
  /** Index of its step. */
  readonly step: Signal<number>;
}

export interface TryState extends Played {
  readonly steps: Signal<string>;
  readonly from: Signal<string>;
  readonly to: Signal<string>;
}

const OFFERED = ['presses 1', 'silence', 'says yes', 'hangs up'];

export function TryPanel({ open, state }: { readonly open: OpenScenario; readonly state: TryState }) {
  const failure = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  const { steps, from, to, run, step } = state;
  const read = stepsOf(steps.value);
  const mistake = 'unknown' in read ? words('unknownStep', { step: read.unknown }) : undefined;
  const add = (text: string): void => {
    steps.value = steps.value.trim() === '' ? text : `${steps.value.replace(/[,\s]+$/, '')}, ${text}`;
  };
  const simulate = async (): Promise<void> => {
    if (!('steps' in read) || isBusy.value) return;
    isBusy.value = true;
    failure.value = undefined;
    const numbers = { ...(from.value !== '' && { from: from.value }), ...(to.value !== '' && { to: to.value }) };
    const test = { name: 'try', ...numbers, ...(read.steps.length > 0 && { steps: read.steps }) };
    try {
      const { problems, tests } = await runTests(open, JSON.stringify({ tests: [test] }));
      const [first] = tests;
      run.value = first?.run;
      step.value = 0;
      const [reason] = [...problems.map(({ message }) => message), ...(first?.found ?? [])];
      if (first?.run === undefined && reason !== undefined) failure.value = new Error(reason);
    } catch (error) {
      failure.value = error;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <>
      <form
        class="try"
        onSubmit={(event) => {
          event.preventDefault();
          void simulate();
        }}
      >
        <p class="hint">{words('simulateHelp')}</p>
        <Field label={words('callerDoes')} hint={words('callerHelp')} mistake={mistake}>
          {(ids) => (
            <input {...ids} value={steps.value} onInput={({ currentTarget }) => (steps.value = currentTarget.value)} />
          )}
        </Field>
        <div class="bar">
          {OFFERED.map((text) => (
            <button key={text} type="button" onClick={() => add(text)}>
              + {text}
            </button>
          ))}
          <label>
            {words('caller')}{' '}
            <input
              class="short"
              value={from.value}
              placeholder="101"
              onInput={({ currentTarget }) => (from.value = currentTarget.value)}
            />
          </label>
          <label>
            {words('dialled')}{' '}
            <input
              class="short"
              value={to.value}
              placeholder="500"
              onInput={({ currentTarget }) => (to.value = currentTarget.value)}
            />
          </label>
          <button type="submit" class="primary" disabled={mistake !== undefined || isBusy.value}>
            {words('simulate')}
          </button>
        </div>
      </form>
      <Problem error={failure.value} />
      {run.value !== undefined && <Replay run={run.value} step={step} />}
    </>
  );
}
