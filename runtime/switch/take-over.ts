import type { DialogSide, TakeOverOptions } from '../interpreter/call-port.ts';
import { withLabel } from './carried-state.ts';
import type { CallDialog } from './dialog.ts';
import { type Party, uriOf } from './party.ts';
import { IvrLeg } from './ivr-leg.ts';
import type { CallingLeg } from './leg.ts';
import { PhoneLeg } from './phone-leg.ts';
import type { SwitchTools } from './tools.ts';

/** A leg that can leave its dialog: of a phone, or of a scenario. */
export interface FoundLeg {
  readonly leg: CallingLeg;
  readonly dialog: CallDialog;
}

/**
 * One side of an established dialog, or the side that is left of one that is being taken apart.
 * @param domain the dialog must be visible to this domain
 * @param scenarios whether it may be a scenario's
 * @returns 481 when there is no such dialog, or it is not established; 488 when that side is nobody who can leave
 */
export function findLeg(
  tools: SwitchTools,
  domain: string,
  { dialogid, side }: DialogSide,
  scenarios = false,
): FoundLeg | 481 | 488 {
  const dialog = tools.dialogs.find(dialogid) ?? tools.dialogs.parted(dialogid);
  if (dialog === undefined || dialog.state === 'forking' || !dialog.isOf(domain)) return 481;
  const leg = dialog.leg(side);
  if (!(leg instanceof PhoneLeg || (scenarios && leg instanceof IvrLeg))) return 488;
  return leg.owner === dialog ? { leg, dialog } : 481;
}

/** What becomes of whoever the party talked to: released, or waiting to be taken over too. */
type OtherParty = 'released' | 'waits';

/**
 * Takes the leg into another dialog, where it is the called side (RFC 3891 semantics, with the media anchored here): a
 * phone keeps its SIP dialog and its endpoint, which is parked.
 * @param into gives that dialog; asked when the leg is free to go
 * @returns 481 when the leg has hung up meanwhile, 487 when nobody waits for it: it stays where it is then
 */
export async function moveLeg(
  tools: SwitchTools,
  { leg, dialog: from }: FoundLeg,
  into: () => CallDialog,
  other: OtherParty = 'released',
): Promise<CallDialog | 481 | 487> {
  await Promise.all([from.disconnectMedia(), from.opposite(leg)?.quiet?.()]);
  if (leg.ended || leg.owner !== from) return 481;
  const dialog = into();
  if (dialog.state !== 'forking') {
    await from.connectMedia();
    return 487;
  }
  tools.dialogs.transferred(from, dialog);
  if (other === 'waits' && from.state === 'dialog') tools.dialogs.part(from, leg);
  else from.endWithout(leg, { by: 'transfer', status: 480, reason: 'Transferred' });
  dialog.addBranch(leg, { localuri: uriOf(dialog.a.party), remoteuri: uriOf(leg.party) }, Date.now());
  dialog.establish(leg);
  return dialog;
}

/**
 * Takes one side of an established dialog into a new one, with the leg that asks for it as the calling side.
 * @returns the new dialog, and whom the taken party talked to before; 481, 487 or 488 when it stays where it is
 */
export async function takeOver(
  tools: SwitchTools,
  taker: IvrLeg,
  { dialogid, side, binding, other }: DialogSide & TakeOverOptions,
): Promise<{ readonly dialog: CallDialog; readonly from: Party | undefined } | 481 | 487 | 488> {
  const found = findLeg(tools, taker.party.domain, { dialogid, side });
  if (typeof found === 'number') return found;
  const from = found.dialog.opposite(found.leg)?.party;
  const open = () =>
    tools.dialogs.open({
      a: taker,
      localuri: uriOf(found.leg.party),
      remoteuri: uriOf(taker.party),
      site: tools.site,
      carried: withLabel(found.dialog.carried, binding),
    });
  const dialog = await moveLeg(tools, found, open, other);
  return typeof dialog === 'number' ? dialog : { dialog, from };
}
