import { Type } from 'typebox';
import { defineOperation, touched } from '../definition.ts';
import { Binding, NumberWithTail, ResponseModeOption, SideName } from '../parameters.ts';
import type { ResponseMode } from '../response.ts';
import { live, sidesOf } from '../target.ts';
import { RENAMED_FIELDS, renamed, transferProgress } from '../transfer-progress.ts';

/** Transfers the opponent of the initiator to a number (specification, "REFER (transfer to a number)"). */
export const refer = defineOperation({
  name: 'refer',
  summary: 'Transfers the opponent of the initiator to a number; on failure it returns to the initiator.',
  parameters: Type.Object({
    by: SideName('Side that transfers: SIP URI or Call-ID. The opposite side is transferred.'),
    referto: NumberWithTail("Number of Z; the first ' or , starts a DTMF tail, every later one is a pause of 1 s."),
    binding: Type.Optional(Binding),
    response_mode: ResponseModeOption(3),
  }),
  response: Type.Object({ dialogid: Type.String({ description: 'As asked.' }), ...RENAMED_FIELDS }),
  example: { by: '<sip:alice@demo.local>', referto: '103' },
  target: 'one',
  paths: ['domain', 'own'],
  startsCall: true,
  scenario: 'refer',
  plan: ({ dialogs }, { scope, parameters, dialogids: [dialogid = ''] }) => {
    const { by, referto, binding, response_mode: mode = 3 } = parameters;
    const { initiator, other } = sidesOf(live(dialogs, scope, dialogid), by, 'by');
    return {
      touches: [touched(dialogs, scope.domain, dialogid)],
      args: {
        dialogid,
        side: other,
        initiator: initiator.number,
        referto,
        ...(binding === undefined ? {} : { binding }),
      },
      responseMode: mode,
      progress: transferProgress(mode as ResponseMode, (response) => ({ dialogid, ...renamed(response) })),
    };
  },
});
