import type { Answer, DialogSide, Transfer } from '../../runs/index.ts';
import { parseReferTo, type ReferAnswer, type ReferRequest } from '../../signalling/index.ts';
import { failedAttempt } from '../placing/attempt.ts';
import { ConferenceLeg } from '../legs/conference-leg.ts';
import { startJoin } from './join.ts';
import { IvrLeg } from '../legs/ivr-leg.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import { referrerOf } from '../placing/referred-by.ts';
import { ReferProgress } from './refer-progress.ts';
import { referToRoom } from './refer-to-room.ts';
import type { SwitchTools } from '../tools.ts';
import { startTransfer } from './transfer.ts';

/**
 * Handles the REFER of a phone (RFC 3515), which transfers its peer: a phone or a scenario. The target is a number of its
 * domain, or with Replaces the phone's peer in another dialog. A foreign address fails with 404. NOTIFYs report the
 * progress. After a success the phone is released. After a failure it has its peer back; if it has hung up meanwhile, the
 * peer is released. A REFER to a conference is a request to its room (`referToRoom`).
 * @returns the answer to the REFER
 */
export function transferByPhone(
  tools: SwitchTools,
  leg: PhoneLeg,
  request: ReferRequest,
): ReferAnswer | Promise<ReferAnswer> {
  // An outside party must not place calls at the domain's cost.
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
  // The transfer starts at once, so that the peer leaves the dialog before the phone hangs up.
  const accepts = (start: () => Transfer): ReferAnswer => ({ status: 202, accepted: () => progress.follow(start) });
  const { replaces } = target;
  if (replaces === undefined) {
    // A foreign address: a party with the same number here is not its target.
    if (!tools.isHere(target.host, domain))
      return { status: 202, accepted: () => progress.follow(() => failedAttempt(404)) };
    return accepts(() =>
      startTransfer(tools, found.dialog, peer, { to: target.user, referredBy }, { beforeSettling: told, domain }),
    );
  }
  const joins = (side: DialogSide): ReferAnswer =>
    accepts(() =>
      startJoin(tools, found.dialog, peer, { ...side, referredBy }, { beforeSettling: told, scenarios: true }),
    );
  // Replaces names the dialog by Call-ID and tags; the host of the URI is not compared.
  const other = tools.dialogs.findReplaced(replaces);
  if (other === undefined && tools.others !== undefined) {
    return tools.others.findReplaced(replaces, domain).then(
      (there) => (there === undefined || there.ringing ? { status: 481 } : joins(opposite(there))),
      () => ({ status: 503 }),
    );
  }
  // A call of another domain counts as unknown.
  if (other === undefined || other.ringing || !other.dialog.isOf(domain)) return { status: 481 };
  return joins(opposite({ dialogid: other.dialog.dialogid, side: other.side }));
}

/** Replaces names the phone's own leg; its peer there is on the other side. */
function opposite({ dialogid, side }: DialogSide): DialogSide {
  return { dialogid, side: side === 'a' ? 'b' : 'a' };
}
