import type { Answer, DialogSide, Transfer } from '../interpreter/call-port.ts';
import { answer } from '../signalling/answers.ts';
import { parseReferTo } from '../signalling/refer-to.ts';
import type { ReferAnswer, ReferRequest } from '../signalling/sip-dialog.ts';
import { ConferenceLeg } from './conference-leg.ts';
import type { CallDialog } from './dialog.ts';
import { startJoin } from './join.ts';
import { PhoneLeg } from './phone-leg.ts';
import { referToRoom } from './refer-to-room.ts';
import type { SwitchTools } from './tools.ts';
import { startTransfer } from './transfer.ts';

/**
 * A phone transfers its peer by REFER: to a number of its domain (an address elsewhere is not found), or with Replaces to a
 * party that it talks to in another dialog. The phone is told by NOTIFY how it goes; after a success it is released, after a
 * failure it has its peer back. A conference is not transferred: it is asked for something.
 * @returns the answer to the REFER
 */
export function transferByPhone(tools: SwitchTools, leg: PhoneLeg, { referTo }: ReferRequest): ReferAnswer {
  // Whoever is outside may not have others called at the domain's cost.
  if (leg.party.kind === 'provider') return { status: 403 };
  const target = parseReferTo(referTo);
  if (target === undefined) return { status: 400 };
  const found = tools.dialogs.findByCallId(leg.callid);
  const peer = found?.dialog.opposite(leg);
  if (peer instanceof ConferenceLeg && leg.owner === found?.dialog) {
    return referToRoom(tools, { leg, room: peer.room, participant: peer.participant }, target);
  }
  if (found === undefined || leg.owner !== found.dialog || !(peer instanceof PhoneLeg)) return { status: 481 };
  const { domain } = leg.party;
  const told = (final: Answer) => leg.notifyRefer(final.line, true);
  let start: () => Transfer;
  if (target.replaces === undefined) {
    if (!tools.isHere(target.host, domain)) return { status: 202, accepted: () => void notFound(leg) };
    start = () => startTransfer(tools, found.dialog, peer, { to: target.user }, { beforeSettling: told, domain });
  } else {
    // A dialog is named by its tags, whatever host is named beside them.
    const other = tools.dialogs.findReplaced(target.replaces);
    // A call of another domain is not there.
    if (other === undefined || other.ringing || !other.dialog.isOf(domain)) return { status: 481 };
    start = () => startJoin(tools, found.dialog, peer, partner(other), told);
  }
  const accepted = () => {
    transfer(found.dialog, leg, peer, start).catch((err: unknown) => tools.failed(err, 'transfer', leg));
  };
  return { status: 202, accepted };
}

/** The phone names the leg that it has itself; whom it talks to there is on the other side. */
function partner({ dialog, side }: { dialog: CallDialog; side: 'a' | 'b' }): DialogSide {
  return { dialogid: dialog.dialogid, side: side === 'a' ? 'b' : 'a' };
}

/** Whoever has that number here is not meant. */
async function notFound(leg: PhoneLeg): Promise<void> {
  await leg.notifyRefer('SIP/2.0 100 Trying', false);
  await leg.notifyRefer(answer(404, undefined, true).line, true);
}

async function transfer(dialog: CallDialog, leg: PhoneLeg, peer: PhoneLeg, start: () => Transfer): Promise<void> {
  await leg.notifyRefer('SIP/2.0 100 Trying', false);
  await dialog.disconnectMedia();
  if (peer.ended || peer.owner !== dialog) return leg.notifyRefer('SIP/2.0 487 Request Terminated', true);
  const going = start();
  const provisional = await going.provisional;
  if (provisional.status < 200) await leg.notifyRefer(provisional.line, false);
  await going.final;
}
