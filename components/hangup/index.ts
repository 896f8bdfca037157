import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';

export const hangup = defineComponent({
  name: 'hangup',
  summary: 'Ends the call.',
  otherNames: ['hang_up', 'end_call', 'disconnect', 'bye'],
  docs: [
    'The scenario goes on, without a call. A call that is over already is no error. An incoming call that was not answered is',
    'refused.',
  ].join('\n'),
  settings: Type.Object({}),
  exits: { next: { call: 'over', description: 'The call is over.', otherwise: 'end' } },
  results: {},
  run: async ({ call }) => {
    if (call.state === 'incoming') await call.reject(480);
    else if (call.state !== 'none' && !call.endSignal.aborted) await call.hangup();
    return { exit: 'next' };
  },
});
