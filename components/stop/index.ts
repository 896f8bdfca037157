import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';

export const stop = defineComponent({
  name: 'stop',
  summary: 'Ends a scenario that this one started in parallel.',
  otherNames: ['cancel', 'kill'],
  docs: [
    'Its running block is ended, its `finally` branch still runs. A run that is over already is no error. To end the scenario',
    'itself, lead an exit to `end`.',
  ].join('\n'),
  settings: Type.Object({
    run: Type.String({ minLength: 1, maxLength: 64, examples: ['${music.run}'], description: 'Its run id.' }),
    reason: Type.String({ maxLength: 256, default: 'stopped', description: 'Shown in its trace.' }),
  }),
  shorthand: 'run',
  exits: { next: { description: 'It is ending.' } },
  results: {},
  method: 'scenario.stop',
  check: ({ run }) =>
    run === undefined
      ? []
      : [
          '"stop" names a run by its id, which is known at run time only: write run: ${BLOCK.run}, or in a module what scenario.run gave',
        ],
  run: async ({ children }, { run, reason }) => {
    children.get(run)?.stop(reason);
    return { exit: 'next' };
  },
});
