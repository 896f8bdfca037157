import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import type { Value } from '../../runtime/language/index.ts';

export const send = defineComponent({
  name: 'send',
  summary: 'Sends a message to another run.',
  otherNames: ['message', 'send_message'],
  docs: [
    'The other run gets it by `receive`, or is interrupted by it (`on: {message: {NAME: BLOCK}}`). `run` gives the id of the run',
    'that it started; `scenario.run` is the id of this run, to be passed on as an argument.',
  ].join('\n'),
  settings: Type.Object({
    to: Type.String({ minLength: 1, maxLength: 64, examples: ['${watch.run}'], description: 'Run id.' }),
    message: Type.String({ minLength: 1, maxLength: 64, examples: ['stop'], description: 'Name of the message.' }),
    data: Type.Optional(Type.Any({ description: 'Data of the message.' })),
  }),
  exits: {
    next: { description: 'The other run has it.' },
    gone: { description: 'There is no such run any more.', otherwise: 'next' },
  },
  results: {},
  method: 'scenario.send',
  check: ({ to }) =>
    to === undefined
      ? []
      : [
          '"send" names a run by its id, which is known at run time only: write to: ${BLOCK.run}, or in a module what scenario.run gave',
        ],
  subject: 'message',
  run: async ({ services, run, domain, sensitive }, { to, message, data }) => {
    const sent = await services.runs.send(
      domain,
      to,
      { name: message, data: (data ?? null) as Value, from: run },
      sensitive,
    );
    return { exit: sent ? 'next' : 'gone' };
  },
});
