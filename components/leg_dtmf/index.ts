import { Type } from 'typebox';
import {
  answeredLeg,
  defineComponent,
  DIALOG_ID,
  DTMF,
  DTMF_PROTOS,
  LEG_CALLID,
  liveDialog,
  notApplicable,
  parseTail,
} from '../../runtime/runs/index.ts';

export const legDtmf = defineComponent({
  name: 'leg_dtmf',
  summary: 'Sends digits to one leg of any live call.',
  docs: [
    'Digits of several blocks or requests for one leg are queued there: the block is done when its digits are in the queue. Use',
    '`send_dtmf` for the party of this scenario.',
  ].join('\n'),
  settings: Type.Object({
    dialogid: DIALOG_ID,
    callid: LEG_CALLID,
    dtmf: DTMF,
    proto: Type.Enum(DTMF_PROTOS, {
      default: 'sipinfo',
      description: 'As INFO requests, or as telephone-events in the sound (RFC 4733).',
    }),
  }),
  exits: { next: { description: 'They are queued.' } },
  results: {},
  run: async ({ services, domain }, { dialogid, callid, dtmf, proto }) => {
    const dialog = liveDialog(services, domain, dialogid);
    answeredLeg(dialog, callid);
    if (!dialog.sendDtmf(callid, parseTail(dtmf.toUpperCase()), proto))
      throw notApplicable('dtmf', 'too many digits wait to be sent to this leg');
    return { exit: 'next' };
  },
});
