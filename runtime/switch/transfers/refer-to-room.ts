import type { Participant, Room } from '../../conference/index.ts';
import { bracketUri, type ReferAnswer, type ReferTarget, type Replaces } from '../../signalling/index.ts';
import { type Attempt, failedAttempt } from '../placing/attempt.ts';
import { callFromConference } from '../placing/call-from-conference.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import { startEntering } from './enter-room.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import type { ReferProgress } from './refer-progress.ts';
import type { SwitchTools } from '../tools.ts';

/** A participant, with the call in which it asks. */
interface Asking {
  readonly leg: PhoneLeg;
  readonly room: Room;
  readonly participant: Participant;
  readonly progress: ReferProgress;
  /** Who wants it (RFC 3892). */
  readonly referredBy: string;
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
  const { leg, participant, progress } = asking;
  // Whoever has not given the PIN yet is no participant.
  if (participant.state === 'entering') return { status: 403 };
  if (target.method === 'BYE') return putOut(tools, asking, target);
  if (target.method !== 'INVITE') return { status: 501 };
  if (target.replaces === undefined) {
    return { status: 202, accepted: () => progress.follow(() => invite(tools, asking, target)) };
  }
  const other = otherCall(tools, leg, target.replaces);
  if (other === undefined) return { status: 481 };
  return { status: 202, accepted: () => progress.follow(() => bringIn(tools, asking, other)) };
}

function putOut(tools: SwitchTools, { room, participant, progress }: Asking, { user, host }: ReferTarget): ReferAnswer {
  if (room.hasModerators && !room.moderates(participant)) return { status: 403 };
  const { domain } = room.address;
  // Some are of another domain, and have its name.
  const named = room.participantsAt(bracketUri(user, tools.isHere(host, domain) ? domain : host));
  if (named.length === 0) return { status: 404 };
  const accepted = () => {
    // Whoever puts itself out is not there for the NOTIFY any more.
    void progress.last({ line: 'SIP/2.0 200 OK' }).then(() => {
      for (const each of named) each.line?.hangUp('Request Terminated');
    });
  };
  return { status: 202, accepted };
}

function invite(tools: SwitchTools, { room, referredBy }: Asking, target: ReferTarget): Attempt {
  if (!tools.isHere(target.host, room.address.domain)) return failedAttempt(404);
  return callFromConference(tools, room, target.user, referredBy)?.attempt ?? failedAttempt(486);
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

function bringIn(tools: SwitchTools, { room, referredBy }: Asking, { dialog, peer }: OtherCall): Attempt {
  const { domain, number } = room.address;
  return startEntering(tools, dialog, peer, domain, { room: number, moderator: false, muted: false, referredBy })
    .transfer;
}
