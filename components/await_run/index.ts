import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration, ScenarioError } from '../../runtime/language/index.ts';
import { untilFinished } from '../nested.ts';

export const awaitRun = defineComponent({
  name: 'await_run',
  summary: 'Waits for a scenario that this one started in parallel.',
  docs: 'An error that it does not handle is the error of this block.',
  settings: Type.Object({
    run: Type.String({ minLength: 1, maxLength: 64, examples: ['${look_up.run}'], description: 'Its run id.' }),
    timeout: Duration({ default: '30s', examples: ['30s'], description: 'How long to wait.' }),
  }),
  shorthand: 'run',
  exits: { next: { description: 'It is done.' }, timeout: { description: 'It still runs.' } },
  results: { value: { type: 'any', description: 'What it returned.' } },
  authorCodes: 'any',
  waits: true,
  method: 'scenario.await',
  check: ({ run }) =>
    run === undefined
      ? []
      : [
          '"await_run" names a run by its id, which is known at run time only: write run: ${BLOCK.run}, or in a module what scenario.run gave',
        ],
  run: async ({ children, clock, signal }, { run: id, timeout }) => {
    const child = children.get(id);
    if (!child) throw new ScenarioError('no_such_run', `this scenario started no run "${id}"`);
    const late = new AbortController();
    const done = new AbortController();
    const timer = clock.sleep(parseDuration(timeout) ?? 0, done.signal).then(
      () => late.abort(),
      () => undefined,
    );
    try {
      const { value } = await untilFinished(child, AbortSignal.any([signal, late.signal]), false);
      return { exit: 'next', fields: { value: value ?? null } };
    } catch (error) {
      if (late.signal.aborted && !signal.aborted) return { exit: 'timeout' };
      throw error;
    } finally {
      done.abort();
      await timer;
    }
  },
});
