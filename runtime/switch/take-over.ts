import type { DialogSide } from '../interpreter/call-port.ts';
import type { CallDialog } from './dialog.ts';
import { PhoneLeg } from './phone-leg.ts';
import type { SwitchTools } from './tools.ts';

/** A phone's leg that can leave its dialog. */
export interface FoundLeg {
  readonly leg: PhoneLeg;
  readonly dialog: CallDialog;
}

/**
 * One side of an established dialog, or the side that is left of one that is being taken apart.
 * @param domain the dialog must be visible to this domain
 * @returns 481 when there is no such dialog, or it is not established; 488 when that side is no phone
 */
export function findLeg(tools: SwitchTools, domain: string, { dialogid, side }: DialogSide): FoundLeg | 481 | 488 {
  const dialog = tools.dialogs.find(dialogid) ?? tools.dialogs.parted(dialogid);
  if (dialog === undefined || dialog.state === 'forking' || !dialog.isOf(domain)) return 481;
  const leg = dialog.leg(side);
  if (!(leg instanceof PhoneLeg)) return 488;
  return leg.owner === dialog ? { leg, dialog } : 481;
}

/** What becomes of whoever the party talked to: released, or waiting to be taken over too. */
export type OtherParty = 'released' | 'waits';

/**
 * Takes the leg out (RFC 3891 semantics, with the media anchored here): the phone keeps its SIP dialog and its
 * endpoint, which is parked.
 * @returns false when somebody hung up meanwhile
 */
export async function detachLeg(
  tools: SwitchTools,
  { leg, dialog }: FoundLeg,
  other: OtherParty = 'released',
): Promise<boolean> {
  await Promise.all([dialog.disconnectMedia(), dialog.opposite(leg)?.quiet?.()]);
  if (leg.ended || leg.owner !== dialog) return false;
  if (other === 'waits' && dialog.state === 'dialog') tools.dialogs.part(dialog, leg);
  else dialog.endWithout(leg, { by: 'transfer', status: 480, reason: 'Transferred' });
  return true;
}
