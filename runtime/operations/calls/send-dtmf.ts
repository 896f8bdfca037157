import { Type } from 'typebox';
import { answeredLeg, DTMF, DTMF_PROTOS } from '../../runs/index.ts';
import { defineOperation } from '../definition.ts';
import { LEG_PROPERTIES, legOf } from '../request/leg.ts';
import { live } from '../request/target.ts';

/** Sends digits to a leg (specification, "SEND_DTMF"). */
export const sendDtmf = defineOperation({
  name: 'send_dtmf',
  summary: 'Queues digits for one side of a dialog, and answers at once.',
  parameters: Type.Object({
    ...LEG_PROPERTIES,
    proto: Type.Optional(
      Type.Enum(DTMF_PROTOS, { default: 'sipinfo', description: 'As INFO requests, or in the RTP stream (RFC 4733).' }),
    ),
    dtmf: DTMF,
  }),
  response: Type.Object({ result: Type.Literal('ok'), dialogid: Type.String() }),
  example: { side: 'b', proto: 'rfc2833', dtmf: '12,3#' },
  target: 'dialog',
  http: { on: 'calls', paths: ['domain', 'own'] },
  startsCall: false,
  scenario: 'send_dtmf',
  plan: ({ dialogs }, { scope, parameters, dialogids: [dialogid = ''] }) => {
    const { proto = 'sipinfo', dtmf } = parameters;
    const dialog = live(dialogs, scope, dialogid);
    const { callid, side, uris } = answeredLeg(dialog, legOf(dialog, parameters).callid);
    return { touches: () => [{ dialogid, legs: [{ callid, side, uris }] }], args: { dialogid, callid, proto, dtmf } };
  },
});
