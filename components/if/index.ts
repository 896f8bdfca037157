import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Condition } from '../../runtime/language/index.ts';

export const ifComponent = defineComponent({
  name: 'if',
  summary: 'Goes one way or the other.',
  otherNames: ['condition', 'when', 'branch'],
  docs: 'The condition is an expression without `${}`: `tries < 3`, `ask.digits == "1"`, `call.number.startsWith("1")`.',
  settings: Type.Object({ condition: Condition({ examples: ['tries < 3'], description: 'The condition.' }) }),
  shorthand: 'condition',
  exits: {
    // oxlint-disable-next-line unicorn/no-thenable -- the word authors expect; the object is never awaited
    then: { description: 'The condition is true.' },
    else: { description: 'The condition is false.' },
  },
  results: {},
  method: false,
  run: async (_, { condition }) => ({ exit: condition ? 'then' : 'else' }),
});
