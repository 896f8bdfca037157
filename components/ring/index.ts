import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';

export const ring = defineComponent({
  name: 'ring',
  summary: 'Sends the caller ringback (180 Ringing), without answering.',
  docs: 'Follow it with `wait` and `answer` to let the phone ring for a while.',
  settings: Type.Object({}),
  exits: { next: { description: 'The 180 is sent.' } },
  results: {},
  needsCall: 'any',
  run: async ({ call }) => {
    await call.ring();
    return { exit: 'next' };
  },
});
