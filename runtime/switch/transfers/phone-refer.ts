import type { Answer, DialogSide, Transfer } from '../../runs/index.ts';
import { parseReferTo, type ReferAnswer, type ReferRequest } from '../../signalling/index.ts';
import { failedAttempt } from '../placing/attempt.ts';
import { ConferenceLeg } from '../legs/conference-leg.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import { startJoin } from './join.ts';
import { IvrLeg } from '../legs/ivr-leg.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import { referrerOf } from '../placing/referred-by.ts';
import { ReferProgress } from './refer-progress.ts';
import { referToRoom } from './refer-to-room.ts';
import type { SwitchTools } from '../tools.ts';
import { startTransfer } from './transfer.ts';

/**
 * A phone transfers its peer, a phone or a scenario, by REFER: to a number of its domain (an address elsewhere is not found), or with Replaces to a
 * party that it talks to in another dialog. The phone is told by NOTIFY how it goes; after a success it is released, after a
 * failure it has its peer back, unless it has hung up: then that call is over. A conference is not transferred: it is asked
 * for something.
 * @returns the answer to the REFER
 */
export function transferByPhone(tools: SwitchTools, leg: PhoneLeg, request: ReferRequest): ReferAnswer {
  // Whoever is outside may not have others called at the domain's cost.
  if (leg.party.kind === 'provider') return { status: 403 };
  const target = parseReferTo(request.referTo);
  if (target === undefined) return { status: 400 };
  const progress = new ReferProgress(tools, leg, request);
  const referredBy = referrerOf(request, leg.party);
  const found = tools.dialogs.findByCallId(leg.callid);
  const peer = found?.dialog.opposite(leg);
  if (peer instanceof ConferenceLeg && leg.owner === found?.dialog) {
    return referToRoom(tools, { leg, room: peer.room, participant: peer.participant, progress, referredBy }, target);
  }
  if (found === undefined || leg.owner !== found.dialog) return { status: 481 };
  if (!(peer instanceof PhoneLeg || peer instanceof IvrLeg)) return { status: 481 };
  if (target.method !== 'INVITE') return { status: 501 };
  const { domain } = leg.party;
  const told = (final: Answer) => progress.last(final);
  let start: () => Transfer;
  if (target.replaces === undefined) {
    // Whoever has that number here is not meant.
    if (!tools.isHere(target.host, domain))
      return { status: 202, accepted: () => progress.follow(() => failedAttempt(404)) };
    start = () =>
      startTransfer(tools, found.dialog, peer, { to: target.user, referredBy }, { beforeSettling: told, domain });
  } else {
    // A dialog is named by its tags, whatever host is named beside them.
    const other = tools.dialogs.findReplaced(target.replaces);
    // A call of another domain is not there.
    if (other === undefined || other.ringing || !other.dialog.isOf(domain)) return { status: 481 };
    start = () =>
      startJoin(
        tools,
        found.dialog,
        peer,
        { ...partner(other), referredBy },
        { beforeSettling: told, scenarios: true },
      );
  }
  // At once: the peer is out of the call before the phone hangs up.
  return { status: 202, accepted: () => progress.follow(start) };
}

/** The phone names the leg that it has itself; whom it talks to there is on the other side. */
function partner({ dialog, side }: { dialog: CallDialog; side: 'a' | 'b' }): DialogSide {
  return { dialogid: dialog.dialogid, side: side === 'a' ? 'b' : 'a' };
}
