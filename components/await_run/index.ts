import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, ScenarioError } from '../../runtime/language/index.ts';
import { outcomeOf } from '../nested.ts';
import { withinTime } from '../within-time.ts';

export const awaitRun = defineComponent({
  name: 'await_run',
  summary: 'Waits for a scenario that runs beside this one.',
  docs: [
    'It is one that this scenario started in parallel, or any run of the domain, at any node of a cluster. It may be over: a node',
    'knows the outcomes of its latest 1000 runs. An error that the other scenario does not handle is the error of this block.',
  ].join('\n'),
  settings: Type.Object({
    run: Type.String({ minLength: 1, maxLength: 64, examples: ['${look_up.run}'], description: 'Its run id.' }),
    timeout: Duration({ default: '30s', examples: ['30s'], description: 'How long to wait.' }),
  }),
  shorthand: 'run',
  exits: { next: { description: 'It is done.' }, timeout: { description: 'It still runs.' } },
  results: { value: { type: 'any', description: 'What it returned.' } },
  authorCodes: 'any',
  waits: true,
  resumes: true,
  method: 'scenario.await',
  check: ({ run }) =>
    run === undefined
      ? []
      : [
          '"await_run" names a run by its id, which is known at run time only: write run: ${BLOCK.run}, or in a module what scenario.run gave',
        ],
  run: async (context, { run: id, timeout }) => {
    const { children, domain, sensitive, services } = context;
    const found = await withinTime(context, timeout, async (signal) => {
      const awaited = children.get(id) ?? (await services.runs.find(domain, id, sensitive, signal));
      if (!awaited) throw new ScenarioError('no_such_run', `there is no run "${id}", or it ended long ago`);
      return await outcomeOf(awaited, signal);
    });
    return found === undefined ? { exit: 'timeout' } : { exit: 'next', fields: { value: found.value ?? null } };
  },
});
