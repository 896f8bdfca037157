import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { ScenarioError, type Value } from '../../runtime/language/index.ts';
import { outcomeOf } from '../nested.ts';

const Values = (description: string) => Type.Record(Type.String(), Type.Any(), { default: {}, description });

export const serve = defineComponent({
  name: 'serve',
  summary: 'Gives the call to another scenario by its code, as if that had been dialled.',
  docs: [
    'The other scenario has the call from now on, with its own trace, and ends it. This one waits for its end and has no call',
    'afterwards. Use `run` to get the call back.',
  ].join('\n'),
  settings: Type.Object({
    scenario: Type.String({ minLength: 1, maxLength: 64, examples: ['menu'], description: 'Its code.' }),
    args: Values('Values of its parameters.'),
    variables: Values('Values that its variables begin with.'),
  }),
  shorthand: 'scenario',
  authorCodes: 'any',
  startsScenario: { scenario: 'scenario', args: 'args' },
  exits: { next: { call: 'over', description: 'It is over.' } },
  results: {
    run: { type: 'string', description: 'Its run id.' },
    status: { type: 'string', description: '`completed`, `ended`, `stopped` or `failed`.' },
  },
  waits: true,
  method: 'scenario.serve',
  subject: 'scenario',
  run: async ({ call, services, signal, result, sensitive, language }, { scenario, args, variables }) => {
    const start = {
      args: args as Record<string, Value>,
      variables: variables as Record<string, Value>,
      sensitive,
      language,
    };
    const run = await services.serve(scenario, call, start);
    if (!run) throw new ScenarioError('no_such_scenario', `there is no scenario "${scenario}"`);
    result({ run: run.id, status: 'running' });
    const { status } = await outcomeOf(run, signal);
    return { exit: 'next', fields: { run: run.id, status } };
  },
});
