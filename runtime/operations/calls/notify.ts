import { Type } from 'typebox';
import { EVENT, LEG_CALLID, notifiableLeg } from '../../runs/index.ts';
import { defineOperation } from '../definition.ts';
import { live } from '../request/target.ts';

/** Sends a device-control event to the device of a party (specification, "NOTIFY"). */
export const notify = defineOperation({
  name: 'notify',
  summary: 'Asks the device of one side for something, e.g. to answer (`talk`); only what it lists in Allow-Events.',
  parameters: Type.Object({ callid: LEG_CALLID, event: EVENT }),
  response: Type.Object({ result: Type.Literal('ok'), dialogid: Type.String() }),
  example: { callid: '7d3c@192.0.2.4', event: 'talk' },
  target: 'dialog',
  http: { on: 'calls', paths: ['domain', 'own'] },
  startsCall: false,
  scenario: 'notify',
  plan: ({ dialogs }, { scope, parameters: { callid, event }, dialogids: [dialogid = ''] }) => {
    const { side, uris } = notifiableLeg(live(dialogs, scope, dialogid), callid, event);
    return {
      touches: () => [{ dialogid, legs: [{ callid, side, uris }] }],
      args: { dialogid, callid, request: event },
    };
  },
});
