import type { Participant } from '../conference/participant.ts';
import type { Room } from '../conference/room.ts';
import { answer, type SipAnswer } from '../signalling/answers.ts';
import type { ReferTarget } from '../signalling/refer-to.ts';
import type { Replaces } from '../signalling/replaces.ts';
import type { ReferAnswer } from '../signalling/sip-dialog.ts';
import { bracketUri } from '../signalling/sip-uri.ts';
import { callFromConference } from './call-conference.ts';
import type { CallDialog } from './dialog.ts';
import { startEntering } from './enter-room.ts';
import { PhoneLeg } from './phone-leg.ts';
import type { SwitchTools } from './tools.ts';

/** A participant, with the call in which it asks. */
interface Asking {
  readonly leg: PhoneLeg;
  readonly room: Room;
  readonly participant: Participant;
}

/**
 * A participant asks its conference for something, by REFER in its call with it (RFC 4579):
 *
 * - Refer-To names somebody of the room's domain: the conference calls (section 5.5)
 * - it also has Replaces: whoever the phone talks to in that other call comes into the room (section 5.10)
 * - `;method=BYE`: that participant is put out (section 5.11); where a room has moderators, they alone may
 *
 * The phone stays in the room, and is told by NOTIFY how it goes.
 */
export function referToRoom(tools: SwitchTools, asking: Asking, target: ReferTarget): ReferAnswer {
  const { leg, room, participant } = asking;
  // Whoever has not given the PIN yet is no participant.
  if (participant.state === 'entering') return { status: 403 };
  if (target.method === 'BYE') return putOut(tools, asking, target);
  if (target.method !== 'INVITE') return { status: 501 };
  if (target.replaces === undefined) {
    return { status: 202, accepted: () => background(tools, leg, invite(tools, asking, target)) };
  }
  const other = otherCall(tools, leg, target.replaces);
  if (other === undefined) return { status: 481 };
  return { status: 202, accepted: () => background(tools, leg, bringIn(tools, leg, room, other)) };
}

function putOut(tools: SwitchTools, { leg, room, participant }: Asking, { user, host }: ReferTarget): ReferAnswer {
  if (room.hasModerators && !room.moderates(participant)) return { status: 403 };
  const { domain } = room.address;
  // Some are of another domain, and have its name.
  const named = room.participantsAt(bracketUri(user, tools.isHere(host, domain) ? domain : host));
  if (named.length === 0) return { status: 404 };
  const accepted = () => {
    // Whoever puts itself out is not there for the NOTIFY any more.
    void leg.notifyRefer('SIP/2.0 200 OK', true).then(() => {
      for (const each of named) each.line?.hangUp('Request Terminated');
    });
  };
  return { status: 202, accepted };
}

async function invite(tools: SwitchTools, { leg, room }: Asking, target: ReferTarget): Promise<void> {
  await leg.notifyRefer('SIP/2.0 100 Trying', false);
  if (!tools.isHere(target.host, room.address.domain)) return tell(leg, refused(404));
  const called = callFromConference(tools, room, target.user);
  await tell(leg, called?.attempt ?? refused(486));
}

/** What the phone is told of a call: its first answer, and the final one. */
async function tell(
  leg: PhoneLeg,
  { provisional, final }: { readonly provisional: Promise<SipAnswer>; readonly final: Promise<SipAnswer> },
): Promise<void> {
  const first = await provisional;
  if (first.status < 200) await leg.notifyRefer(first.line, false);
  await leg.notifyRefer((await final).line, true);
}

function refused(status: number): { readonly provisional: Promise<SipAnswer>; readonly final: Promise<SipAnswer> } {
  const final = Promise.resolve(answer(status, undefined, true));
  return { provisional: final, final };
}

/** Another call of the same account with somebody who can come into the room. */
interface OtherCall {
  readonly dialog: CallDialog;
  readonly peer: PhoneLeg;
}

function otherCall(tools: SwitchTools, leg: PhoneLeg, replaces: Replaces): OtherCall | undefined {
  const found = tools.dialogs.findReplaced(replaces);
  const own = found?.dialog.leg(found.side);
  if (found === undefined || found.ringing || own === undefined || !sameAccount(own, leg)) return undefined;
  const peer = found.dialog.opposite(own);
  return peer instanceof PhoneLeg ? { dialog: found.dialog, peer } : undefined;
}

function sameAccount({ party: one }: Pick<PhoneLeg, 'party'>, { party: other }: PhoneLeg): boolean {
  return one.kind === 'sipuser' && other.kind === 'sipuser' && one.sipUser.id === other.sipUser.id;
}

async function bringIn(tools: SwitchTools, leg: PhoneLeg, room: Room, { dialog, peer }: OtherCall): Promise<void> {
  await leg.notifyRefer('SIP/2.0 100 Trying', false);
  await dialog.disconnectMedia();
  if (peer.ended || peer.owner !== dialog) return leg.notifyRefer('SIP/2.0 487 Request Terminated', true);
  const { domain, number } = room.address;
  const { transfer } = startEntering(tools, dialog, peer, domain, { room: number, moderator: false, muted: false });
  await tell(leg, transfer);
}

function background(tools: SwitchTools, leg: PhoneLeg, work: Promise<void>): void {
  work.catch((err: unknown) => tools.failed(err, 'REFER', leg));
}
