import { Type } from 'typebox';
import { defineOperation } from '../definition.ts';
import { NumberWithTail, TargetTimeout } from '../request/parameters.ts';
import { TRANSFER_PARAMETERS, transferPlan, TransferResponse } from './transfer-plan.ts';

/** Transfers the opponent of the initiator to a number (specification, "REFER (transfer to a number)"). */
export const refer = defineOperation({
  name: 'refer',
  summary: 'Transfers the opponent of the initiator to a number; on failure it returns to the initiator.',
  parameters: Type.Object({
    ...TRANSFER_PARAMETERS,
    referto: NumberWithTail("Number of Z; the first ' or , starts a DTMF tail, every later one is a pause of 1 s."),
    targettimeout: Type.Optional(TargetTimeout),
    hold_initiator: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Keep the phone of the initiator on hold until Z answers; if Z does not, the two talk again. `false`: release it at once, and call it again if Z does not answer.',
      }),
    ),
  }),
  response: TransferResponse,
  example: { by: '<sip:alice@demo.local>', referto: '103' },
  target: 'dialog',
  http: { on: 'calls', paths: ['domain', 'own'] },
  startsCall: true,
  scenario: 'refer',
  plan: (tools, { scope, parameters, dialogids: [dialogid = ''] }) => {
    const { referto, targettimeout, hold_initiator: hold = true } = parameters;
    const limit = targettimeout === undefined ? {} : { targettimeout };
    return transferPlan(tools, scope, dialogid, parameters, { referto, ...limit, other: hold ? 'held' : 'released' });
  },
});
