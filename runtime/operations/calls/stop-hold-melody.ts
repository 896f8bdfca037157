import { Type } from 'typebox';
import { defineOperation, touched } from '../definition.ts';
import { notApplicable } from '../errors.ts';
import { live } from '../request/target.ts';

/** Stops the hold melody (specification, "STOP_HOLD_MELODY"). */
export const stopHoldMelody = defineOperation({
  name: 'stop_hold_melody',
  summary:
    'Stops the hold melody: of this hold (`temporary`), of this or the next one (`once`), or of all (`permanent`).',
  parameters: Type.Object({
    mode: Type.Optional(
      Type.Enum(['temporary', 'once', 'permanent'], { default: 'temporary', description: 'For which holds.' }),
    ),
  }),
  response: Type.Object({ result: Type.Literal('ok'), dialogid: Type.String() }),
  example: { mode: 'permanent' },
  target: 'dialog',
  http: { on: 'calls', paths: ['domain', 'own'] },
  startsCall: false,
  scenario: 'stop_hold_melody',
  plan: ({ dialogs }, { scope, parameters: { mode = 'temporary' }, dialogids: [dialogid = ''] }) => {
    if (mode === 'temporary' && !live(dialogs, scope, dialogid).held)
      throw notApplicable('mode', 'the call is not on hold');
    return { touches: () => [touched(dialogs, scope.domain, dialogid)], args: { dialogid, mode } };
  },
});
