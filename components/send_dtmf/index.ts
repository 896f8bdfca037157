import { Type } from 'typebox';
import { defineComponent, parseTail } from '../../runtime/runs/index.ts';

export const sendDtmf = defineComponent({
  name: 'send_dtmf',
  summary: 'Presses keys for the other party to hear.',
  otherNames: ['press', 'send_digits'],
  docs: "For machines at the other end. Every `'` or `,` is a pause of one second.",
  settings: Type.Object({
    digits: Type.String({
      pattern: "^[0-9*#A-D',]{1,128}$",
      examples: ['12,3#'],
      description: 'The keys, and pauses between them.',
    }),
  }),
  shorthand: 'digits',
  exits: { next: { description: 'They are sent.' } },
  results: {},
  waits: true,
  needsCall: 'connected',
  run: async ({ call, signal }, { digits }) => {
    await call.sendDtmf(parseTail(digits), signal);
    return { exit: 'next' };
  },
});
