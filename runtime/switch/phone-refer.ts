import type { Answer, DialogSide, Transfer } from '../interpreter/call-port.ts';
import { parseReferTo } from '../signalling/refer-to.ts';
import type { Replaces } from '../signalling/replaces.ts';
import type { ReferAnswer, ReferRequest } from '../signalling/sip-dialog.ts';
import { ConferenceLeg } from './conference-leg.ts';
import type { CallDialog } from './dialog.ts';
import { startJoin } from './join.ts';
import { PhoneLeg } from './phone-leg.ts';
import { referToRoom } from './refer-to-room.ts';
import type { SwitchTools } from './tools.ts';
import { startTransfer } from './transfer.ts';

/**
 * A phone transfers its peer by REFER: to a number, or with Replaces to a party that it talks to in another dialog. The
 * phone is told by NOTIFY how it goes; after a success it is released, after a failure it has its peer back. A conference
 * is not transferred: it is asked for something.
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
  const other = target.replaces === undefined ? undefined : answered(tools, target.replaces);
  // A call of another domain is not there.
  if (target.replaces !== undefined && other?.dialog.isOf(leg.party.domain) !== true) return { status: 481 };
  const told = (final: Answer) => leg.notifyRefer(final.line, true);
  const start = () =>
    other === undefined
      ? startTransfer(
          tools,
          found.dialog,
          peer,
          { to: target.user },
          { beforeSettling: told, domain: leg.party.domain },
        )
      : startJoin(tools, found.dialog, peer, partner(other), told);
  const accepted = () => {
    transfer(found.dialog, leg, peer, start).catch((err: unknown) => tools.failed(err, 'transfer', leg));
  };
  return { status: 202, accepted };
}

/** The answered call of the phone that has this SIP dialog. */
function answered(tools: SwitchTools, replaces: Replaces): { dialog: CallDialog; side: 'a' | 'b' } | undefined {
  const found = tools.dialogs.findReplaced(replaces);
  return found?.ringing === false ? found : undefined;
}

/** The phone names the leg that it has itself; whom it talks to there is on the other side. */
function partner({ dialog, side }: { dialog: CallDialog; side: 'a' | 'b' }): DialogSide {
  return { dialogid: dialog.dialogid, side: side === 'a' ? 'b' : 'a' };
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
