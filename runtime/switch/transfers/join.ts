/** Joins the parties of two dialogs. */
import type { Answer, DialogSide, Transfer, TransferOptions } from '../../runs/index.ts';
import { MediaError } from '../../media/index.ts';
import { answer } from '../../signalling/index.ts';
import { failedAttempt } from '../placing/attempt.ts';
import { joinedState, withLabel } from '../dialogs/carried-state.ts';
import { ConferenceLeg } from '../legs/conference-leg.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import { startEntering } from './enter-room.ts';
import { IvrLeg } from '../legs/ivr-leg.ts';
import type { CallingLeg } from '../legs/leg.ts';
import { uriOf } from '../legs/party.ts';
import { referredOpts } from '../placing/referred-by.ts';
import { type FoundLeg, findLeg, moveLeg } from './take-over.ts';
import { joinElsewhere } from './join-elsewhere.ts';
import type { SwitchTools } from '../tools.ts';
import { type BeforeSettling, partSound, settleTransfer } from './transfer.ts';

/** What a join has beside its other side. */
interface JoinExtras {
  readonly beforeSettling?: BeforeSettling;
  /** Whether a scenario may be the found party. Two scenarios are not joined: one side of a call needs media. */
  readonly scenarios?: boolean;
}

/**
 * Joins one side of a dialog with one side of another (RFC 3515 REFER with Replaces, with the media anchored here):
 * `opponent` and the found party talk in a new dialog, and the other legs of both old dialogs are released. If there is
 * no such other dialog, nothing changes.
 */
export function startJoin(
  tools: SwitchTools,
  old: CallDialog,
  opponent: CallingLeg,
  side: DialogSide & TransferOptions,
  { beforeSettling, scenarios = false }: JoinExtras = {},
): Transfer {
  const { others } = tools;
  if (others !== undefined && !isHere(tools, side)) {
    return joinElsewhere(tools, others, { old, opponent, side, scenarios }, beforeSettling);
  }
  const room = joinedRoom(tools, opponent, side);
  if (room !== undefined && room.dialog !== old) return joinRoom(tools, old, opponent, room, { side, beforeSettling });
  const found = findLeg(tools, opponent.party.domain, side, scenarios && !(opponent instanceof IvrLeg));
  if (typeof found === 'number' || found.dialog === old) {
    const { provisional, final } = failedAttempt(typeof found === 'number' ? found : 482);
    const told = final.then(async (result) => {
      await beforeSettling?.(result);
      return result;
    });
    return { acallid: opponent.callid, dialogid: '', provisional, final: told };
  }
  const parted = partSound(tools, old, opponent);
  old.suspend(opponent);
  const dialog = tools.dialogs.open({
    a: opponent,
    localuri: uriOf(found.leg.party),
    remoteuri: uriOf(opponent.party),
    site: tools.site,
    carried: withLabel(joinedState(old.carried, found.dialog.carried), side.binding),
    opts: referredOpts(side.referredBy),
  });
  const final = join(tools, dialog, opponent, { found, parted }).then(async (result) => {
    await beforeSettling?.(result);
    if (result.status < 300) {
      tools.dialogs.transferred(old, dialog);
      for (const leg of [opponent, dialog.b]) leg?.peerChanged?.();
    }
    await settleTransfer(old, dialog, opponent, result);
    return result;
  });
  return { acallid: opponent.callid, dialogid: dialog.dialogid, provisional: final, final };
}

function isHere({ dialogs }: SwitchTools, { dialogid }: DialogSide): boolean {
  return (dialogs.find(dialogid) ?? dialogs.parted(dialogid)) !== undefined;
}

/** The conference on that side of a dialog of the domain; undefined if another party is there. */
export function joinedRoom(
  tools: SwitchTools,
  opponent: CallingLeg,
  { dialogid, side }: DialogSide,
): { readonly dialog: CallDialog; readonly leg: ConferenceLeg } | undefined {
  const dialog = tools.dialogs.find(dialogid);
  if (dialog?.state !== 'dialog' || !dialog.isOf(opponent.party.domain)) return undefined;
  const leg = dialog.leg(side);
  // A caller that has not entered the PIN yet brings no other party past it.
  return leg instanceof ConferenceLeg && leg.participant.state !== 'entering' ? { dialog, leg } : undefined;
}

/** A conference's leg cannot move to another dialog: the opponent enters its room instead, and the named dialog ends. */
function joinRoom(
  tools: SwitchTools,
  old: CallDialog,
  opponent: CallingLeg,
  { dialog, leg }: { readonly dialog: CallDialog; readonly leg: ConferenceLeg },
  { side, beforeSettling }: { readonly side: TransferOptions; readonly beforeSettling: BeforeSettling | undefined },
): Transfer {
  const { domain, number } = leg.room.address;
  const options = { ...side, room: number, moderator: false, muted: false };
  const { transfer } = startEntering(tools, old, opponent, domain, options, {
    instead: leg.participant,
    ...(beforeSettling && { beforeSettling }),
  });
  const final = transfer.final.then((result) => {
    if (result.status < 300) dialog.end({ by: 'transfer', status: 480, reason: 'Transferred' });
    return result;
  });
  return { ...transfer, final };
}

/** Moves the found party into the dialog of the opponent, whose sound is free when `parted` settles. */
export async function join(
  tools: SwitchTools,
  dialog: CallDialog,
  opponent: CallingLeg,
  { found, parted }: { readonly found: FoundLeg; readonly parted: Promise<void> },
): Promise<Answer> {
  const { leg } = found;
  try {
    await parted;
    // When the opponent cannot move to the media server of the other dialog, both dialogs stay as they are.
    await opponent.prepareMedia(leg.mediaServer);
    const moved = await moveLeg(tools, found, () => dialog);
    if (typeof moved === 'number') return answer(moved, undefined, true);
    await dialog.connectMedia();
    return answer(200, 'OK', false);
  } catch (error) {
    // A hang-up at this moment is no failure: the parties were joined.
    if (dialog.b === leg && dialog.ended.aborted) return answer(200, 'OK', false);
    tools.failed(error, 'join', leg);
    return answer(error instanceof MediaError ? error.status : 500, undefined, true);
  }
}
