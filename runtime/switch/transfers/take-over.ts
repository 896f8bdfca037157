/** Moves legs from one dialog to another. */
import type { DomainName } from '../../domain-name/index.ts';
import { MediaError } from '../../media/index.ts';
import type { DialogSide, TakeOverOptions } from '../../runs/index.ts';
import { withLabel, withOperation } from '../dialogs/carried-state.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import { HeldParty } from './held-party.ts';
import { type Party, uriOf } from '../legs/party.ts';
import { IvrLeg } from '../legs/ivr-leg.ts';
import type { CallingLeg } from '../legs/leg.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import type { SwitchTools } from '../tools.ts';

/** The leg of a phone or a scenario, which can leave its dialog. */
export interface FoundLeg {
  readonly leg: CallingLeg;
  readonly dialog: CallDialog;
}

/**
 * The leg on one side of an established dialog, or of a dialog whose other leg has left.
 * @param domain the dialog must be visible to this domain
 * @param scenarios whether the leg may be a scenario's
 * @returns 481 for an unknown or unanswered dialog; 488 for a leg that cannot leave
 */
export function findLeg(
  tools: SwitchTools,
  domain: DomainName,
  { dialogid, side }: DialogSide,
  scenarios = false,
): FoundLeg | 481 | 488 {
  const dialog = tools.dialogs.find(dialogid) ?? tools.dialogs.parted(dialogid);
  if (dialog === undefined || dialog.state === 'forking' || !dialog.isOf(domain)) return 481;
  const leg = dialog.leg(side);
  if (!(leg instanceof PhoneLeg || (scenarios && leg instanceof IvrLeg))) return 488;
  return leg.owner === dialog ? { leg, dialog } : 481;
}

type OtherParty = NonNullable<TakeOverOptions['other']>;

/**
 * Moves the leg into another dialog, as the called side (RFC 3891 semantics, with the media anchored here). A phone keeps
 * its SIP dialog and its endpoint.
 * @param into gives that dialog; called when the leg's media is free
 * @param other what happens to its former peer; only a phone can be `held`, others are released
 * @returns 481 when the leg has hung up meanwhile; 487 when that dialog is over, and the leg stays where it was
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
  const waits = other === 'waits' || (other === 'held' && from.opposite(leg) instanceof PhoneLeg);
  if (waits && from.state === 'dialog') tools.dialogs.part(from, leg, other === 'held');
  else from.endWithout(leg, { by: 'transfer', status: 480, reason: 'Transferred' });
  dialog.addBranch(leg, { localuri: uriOf(dialog.a.party), remoteuri: uriOf(leg.party) }, 'undefined');
  dialog.establish(leg);
  return dialog;
}

/** A party that was taken over. */
interface TakenOver {
  readonly dialog: CallDialog;
  /** Its former peer. */
  readonly from: Party | undefined;
  /** The former peer, if it is on hold. */
  readonly held: HeldParty | undefined;
}

/**
 * Moves one side of an established dialog into a new dialog, with the scenario's leg `taker` as the calling side.
 * @returns 481, 487 or 488 when the party stays where it is
 */
export async function takeOver(
  tools: SwitchTools,
  taker: IvrLeg,
  wanted: DialogSide & TakeOverOptions,
): Promise<TakenOver | number> {
  const { dialogid, side, binding, other } = wanted;
  const found = findLeg(tools, taker.party.domain, { dialogid, side });
  const there = found === 481 ? await tools.others?.ownerOf(dialogid) : undefined;
  if (there !== undefined) return await takeFrom(tools, there, taker, wanted);
  if (typeof found === 'number') return found;
  const partner = found.dialog.opposite(found.leg);
  const open = () =>
    tools.dialogs.open({
      a: taker,
      localuri: uriOf(found.leg.party),
      remoteuri: uriOf(taker.party),
      site: tools.site,
      carried: withOperation(withLabel(found.dialog.carried, binding), taker.madeBy),
    });
  const dialog = await moveLeg(tools, found, open, other);
  if (typeof dialog === 'number') return dialog;
  const isHeld = other === 'held' && found.dialog.state === 'suspended' && partner instanceof PhoneLeg;
  return { dialog, from: partner?.party, held: isHeld ? new HeldParty(tools, found.dialog, partner) : undefined };
}

/** Takes a party out of a call of another node. Its former peer cannot be held there for this scenario. */
async function takeFrom(
  tools: SwitchTools,
  node: string,
  taker: IvrLeg,
  { dialogid, side, binding, other }: DialogSide & TakeOverOptions,
): Promise<TakenOver | number> {
  let former: Party | undefined;
  const wanted = { side: { dialogid, side }, domain: taker.party.domain, waits: other === 'waits' };
  const dialog = await tools.others?.fetch(node, wanted, async ({ leg, carried, from }) => {
    former = from;
    await leg.prepareMedia();
    if (taker.ended) throw new MediaError('the scenario is over', 487);
    const opened = tools.dialogs.open({
      a: taker,
      localuri: uriOf(leg.party),
      remoteuri: uriOf(taker.party),
      site: tools.site,
      carried: withOperation(withLabel(carried, binding), taker.madeBy),
    });
    opened.addBranch(leg, { localuri: uriOf(taker.party), remoteuri: uriOf(leg.party) }, 'undefined');
    opened.establish(leg);
    return opened;
  });
  if (dialog === undefined || typeof dialog === 'number') return dialog ?? 481;
  return { dialog, from: former, held: undefined };
}
