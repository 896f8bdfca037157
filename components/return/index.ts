import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import type { Value } from '../../runtime/language/index.ts';

export const returnComponent = defineComponent({
  name: 'return',
  summary: 'Ends the scenario and returns a value to its starter.',
  otherNames: ['exit', 'result'],
  docs: 'The block `run` has it as `value`; `finally` still runs. Without a value it is empty.',
  settings: Type.Object({
    value: Type.Optional(Type.Any({ examples: ['${ask.digits}'], description: 'The value.' })),
  }),
  shorthand: 'value',
  exits: { returned: { description: 'Always.', otherwise: 'end' } },
  results: {},
  method: false,
  run: async (_, { value }) => ({ exit: 'returned', returns: (value ?? null) as Value }),
});
