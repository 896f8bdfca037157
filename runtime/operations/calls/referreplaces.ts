import { Type } from 'typebox';
import { defineOperation, touchedLegs } from '../definition.ts';
import { notApplicable } from '../errors.ts';
import { Binding, ResponseModeOption, SideName } from '../request/parameters.ts';
import type { ResponseMode } from '../answer/response.ts';
import {
  findDialog,
  liveAnywhere,
  type SeenDialog,
  selectorProperties,
  type Sides,
  sidesOf,
} from '../request/target.ts';
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
  plan: async (tools, { scope, parameters, dialogids: [masterdialogid = ''] }) => {
    const { masterby, slaveby, binding, response_mode: mode = 4 } = parameters;
    const slavedialogid = await findDialog(tools.calls, scope, parameters, 'slave');
    if (slavedialogid === masterdialogid) throw notApplicable('slavedialogid', 'is the master dialog itself');
    const [one, other] = [
      await liveAnywhere(tools, scope, masterdialogid),
      await liveAnywhere(tools, scope, slavedialogid),
    ];
    const master = { dialogid: masterdialogid, ...sidesOf(one, masterby, 'masterby') };
    const slave = { dialogid: slavedialogid, ...sidesOf(other, slaveby, 'slaveby') };
    const [moved, stays] = movesFirst(master) ? [master, slave] : [slave, master];
    if (!moved.opponent.movable || !stays.opponent.joinable)
      throw notApplicable(
        stays === slave ? 'slaveby' : 'masterby',
        'its peer cannot be joined: it is a scenario, or the node of its call died',
      );
    return {
      touches: () => [touchedLegs(masterdialogid, one.legs), touchedLegs(slavedialogid, other.legs)],
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

/** A conference's leg cannot move to another dialog: the party of the other dialog enters its room instead. */
function movesFirst({ opponent }: Sides): boolean {
  return opponent.movable;
}

/** True when REFERREPLACES moves the party of the slave dialog, and so runs at its node. */
export function slaveMoves(master: SeenDialog, masterby: unknown): boolean {
  try {
    return typeof masterby === 'string' && !movesFirst(sidesOf(master, masterby, 'masterby'));
  } catch {
    // The operation says why.
    return false;
  }
}
