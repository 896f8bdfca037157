import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/component.ts';
import { liveDialog, notApplicable } from '../../runtime/runs/ports/dialogs.ts';
import { DIALOG_ID, EVENT, LEG_CALLID, notifiableLeg } from '../legs.ts';

export const legNotify = defineComponent({
  name: 'leg_notify',
  summary: 'Asks the device of one leg of any live call for something, by NOTIFY.',
  docs: [
    'For instance `talk`: answer the call that rings, or take it back from hold; `hold`: hold it. Only what the device listed',
    'in the header Allow-Events is sent; else the block fails with the code `not_applicable`. Whether the device does it is',
    'seen from what happens to the call.',
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
