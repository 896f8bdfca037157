import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration } from '../../runtime/language/index.ts';
import { withinTime } from '../within-time.ts';

export const receive = defineComponent({
  name: 'receive',
  summary: 'Waits for a message from another run.',
  otherNames: ['wait_message'],
  docs: [
    'Earlier messages are kept: the oldest of this name is taken. Of more than 100 waiting messages, or 1,048,576 characters',
    'of JSON, the oldest are dropped.',
  ].join('\n'),
  settings: Type.Object({
    message: Type.String({ minLength: 1, maxLength: 64, examples: ['agent_free'], description: 'Its name.' }),
    timeout: Duration({ default: '30s', examples: ['30s'], description: 'How long to wait.' }),
  }),
  shorthand: 'message',
  exits: { next: { description: 'The message came.' }, timeout: { description: 'No message came in time.' } },
  results: {
    data: { type: 'any', description: 'Data of the message.' },
    from: { type: 'string', description: 'Id of the run that sent it.' },
  },
  waits: true,
  resumes: true,
  method: 'scenario.receive',
  subject: 'message',
  run: async (context, { message, timeout }) => {
    const got = await withinTime(context, timeout, (signal) => context.mailbox.receive(message, signal));
    if (got === undefined) return { exit: 'timeout' };
    return { exit: 'next', fields: { data: got.data, from: got.from } };
  },
});
