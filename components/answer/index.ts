import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';

export const answer = defineComponent({
  name: 'answer',
  summary: 'Answers the incoming call.',
  otherNames: ['pickup', 'pick_up', 'accept'],
  docs: 'From here on the caller hears the scenario. A connected call stays as it is.',
  settings: Type.Object({}),
  exits: { next: { description: 'The call is connected.' } },
  results: {},
  needsCall: 'incoming',
  run: async ({ call }) => {
    if (call.state !== 'connected') await call.answer();
    return { exit: 'next' };
  },
});
