import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/component.ts';
import type { Value } from '../../runtime/language/values.ts';

export const returnComponent = defineComponent({
  name: 'return',
  summary: 'Ends the scenario and gives a value to whoever started it.',
  otherNames: ['exit', 'result'],
  docs: 'A scenario that was started by `run` gives it as `value`; `finally` still runs. Without a value it is empty.',
  settings: Type.Object({
    value: Type.Optional(Type.Any({ examples: ['${ask.digits}'], description: 'What is given.' })),
  }),
  shorthand: 'value',
  exits: { returned: { description: 'Always.', otherwise: 'end' } },
  results: {},
  method: false,
  run: async (_, { value }) => ({ exit: 'returned', returns: (value ?? null) as Value }),
});
