import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';

export const log = defineComponent({
  name: 'log',
  summary: 'Writes a line into the trace and the log of the node.',
  otherNames: ['print', 'debug'],
  docs: 'Do not log what callers type or say: many people read logs. Sensitive answers are masked.',
  settings: Type.Object({
    text: Type.String({ maxLength: 1024, examples: ['tries: ${tries}'], description: 'The line.' }),
    level: Type.Enum(['debug', 'info', 'warn', 'error'], { default: 'info', description: 'How important it is.' }),
  }),
  shorthand: 'text',
  exits: { next: { description: 'It is written.' } },
  results: {},
  method: false,
  run: async ({ note }, { text, level }) => {
    note(level, text);
    return { exit: 'next' };
  },
});
