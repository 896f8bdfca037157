import { Type } from 'typebox';
import { defineOperation, touched } from '../definition.ts';
import { notApplicable } from '../errors.ts';
import { Binding, ResponseModeOption, SideName } from '../request/parameters.ts';
import type { ResponseMode } from '../answer/response.ts';
import { findDialog, live, selectorProperties, sidesOf } from '../request/target.ts';
import { RENAMED_FIELDS, renamed, transferProgress } from '../answer/transfer-progress.ts';

/** Joins the parties of two dialogs: X-Y and X-Z become Y-Z (specification, "REFERREPLACES"). */
export const referReplaces = defineOperation({
  name: 'referreplaces',
  summary: 'Joins one party of each of two dialogs and releases the other parties.',
  parameters: Type.Object({
    masterby: SideName('Side of the master dialog that transfers: SIP URI or Call-ID.'),
    slaveby: SideName('Side of the slave dialog to be replaced: SIP URI or Call-ID.'),
    ...selectorProperties('slave', 'The slave dialog'),
    binding: Type.Optional(Binding),
    response_mode: ResponseModeOption(4),
  }),
  response: Type.Object({ masterdialogid: Type.String(), slavedialogid: Type.String(), ...RENAMED_FIELDS }),
  example: { masterby: '<sip:alice@demo.local>', slavedialogid: '4f1c09d2ab7e', slaveby: '<sip:alice@demo.local>' },
  target: 'dialog',
  http: { on: 'calls', paths: ['domain', 'own'] },
  startsCall: true,
  scenario: 'referreplaces',
  plan: async ({ calls, dialogs }, { scope, parameters, dialogids: [masterdialogid = ''] }) => {
    const { masterby, slaveby, binding, response_mode: mode = 4 } = parameters;
    const slavedialogid = await findDialog(calls, scope, parameters, 'slave');
    if (slavedialogid === masterdialogid) throw notApplicable('slavedialogid', 'is the master dialog itself');
    const master = { dialogid: masterdialogid, ...sidesOf(live(dialogs, scope, masterdialogid), masterby, 'masterby') };
    const slave = { dialogid: slavedialogid, ...sidesOf(live(dialogs, scope, slavedialogid), slaveby, 'slaveby') };
    // A conference's leg cannot move to another dialog: the party of the other dialog enters its room instead.
    const [moved, stays] = master.opponent.movable ? [master, slave] : [slave, master];
    if (!moved.opponent.movable || !stays.opponent.joinable)
      throw notApplicable(stays === slave ? 'slaveby' : 'masterby', 'its peer is a scenario, which cannot be joined');
    return {
      touches: [masterdialogid, slavedialogid].map((id) => touched(dialogs, scope.domain, id)),
      args: {
        master: moved.dialogid,
        master_side: moved.opponent.side,
        slave: stays.dialogid,
        slave_side: stays.opponent.side,
        initiator: moved.initiator.number,
        initiator_domain: moved.initiator.domain,
        referred_by: moved.initiator.uris.at(-1) ?? '',
        ...(binding === undefined ? {} : { binding }),
      },
      responseMode: mode,
      progress: transferProgress(mode as ResponseMode, (response) => ({
        masterdialogid,
        slavedialogid,
        ...renamed(response),
      })),
    };
  },
});
