import { Type } from 'typebox';
import {
  defineComponent,
  DIALOG_ID,
  EVENT,
  LEG_CALLID,
  liveDialog,
  notApplicable,
  notifiableLeg,
} from '../../runtime/runs/index.ts';

export const legNotify = defineComponent({
  name: 'leg_notify',
  summary: 'Asks the device of one leg of any live call for something, by NOTIFY.',
  docs: [
    '`talk` asks the device to answer the ringing call, or to resume it; `hold` asks it to hold the call. Only events that the',
    'device lists in the header Allow-Events are sent; others fail with the code `not_applicable`. Whether the device obeys shows',
    'in the call.',
  ].join('\n'),
  settings: Type.Object({ dialogid: DIALOG_ID, callid: LEG_CALLID, event: EVENT }),
  exits: { next: { description: 'It is on its way.' } },
  results: {},
  run: async ({ services, domain }, { dialogid, callid, event }) => {
    const dialog = liveDialog(services, domain, dialogid);
    notifiableLeg(dialog, callid, event);
    if (!dialog.notify(callid, event)) throw notApplicable('callid', 'the device does not ring yet');
    return { exit: 'next' };
  },
});
