/** REFER requests of participants to their conference (RFC 4579). */
import type { Participant, Room } from '../../conference/index.ts';
import { bracketUri, type ReferAnswer, type ReferTarget, type Replaces } from '../../signalling/index.ts';
import { type Attempt, failedAttempt } from '../placing/attempt.ts';
import { callFromConference } from '../placing/call-from-conference.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import { startEntering } from './enter-room.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import type { ReferProgress } from './refer-progress.ts';
import type { SwitchTools } from '../tools.ts';

/** A participant whose phone sent a REFER to its conference. */
interface Asking {
  readonly leg: PhoneLeg;
  readonly room: Room;
  readonly participant: Participant;
  readonly progress: ReferProgress;
  /** Referred-By of what the REFER asks for (RFC 3892). */
  readonly referredBy: string;
}

/**
 * Handles the REFER of a participant's phone to its conference (RFC 4579), by its Refer-To:
 *
 * - a number of the room's domain: the conference calls it (section 5.5)
 * - with Replaces: the phone's peer in that other call enters the room (section 5.10)
 * - with `;method=BYE`: that participant is removed (section 5.11); in a room with moderators, only they may do so
 *
 * The phone stays in the room, and NOTIFYs report the progress.
 */
export function referToRoom(
  tools: SwitchTools,
  asking: Asking,
  target: ReferTarget,
): ReferAnswer | Promise<ReferAnswer> {
  const { leg, participant, progress } = asking;
  // A caller that has not entered the PIN yet is no participant.
  if (participant.state === 'entering') return { status: 403 };
  if (target.method === 'BYE') return remove(tools, asking, target);
  if (target.method !== 'INVITE') return { status: 501 };
  if (target.replaces === undefined) {
    return { status: 202, accepted: () => progress.follow(() => invite(tools, asking, target)) };
  }
  const other = otherCall(tools, leg, target.replaces);
  if (other === undefined) return fromElsewhere(tools, asking, target.replaces);
  return { status: 202, accepted: () => progress.follow(() => bringIn(tools, asking, other)) };
}

/** The other call may be at another node of the cluster. */
function fromElsewhere(
  { others }: SwitchTools,
  { leg: { party }, room, progress, referredBy }: Asking,
  replaces: Replaces,
): ReferAnswer | Promise<ReferAnswer> {
  if (others === undefined || party.kind !== 'sipuser') return { status: 481 };
  const { domain, number } = room.address;
  return others.findReplaced(replaces, party.domain).then(
    (there) =>
      there === undefined || there.ringing || there.account !== party.sipUser.id
        ? { status: 481 }
        : { status: 202, accepted: () => progress.follow(() => others.bringIn(there, { domain, number, referredBy })) },
    () => ({ status: 503 }),
  );
}

function remove(tools: SwitchTools, { room, participant, progress }: Asking, { user, host }: ReferTarget): ReferAnswer {
  if (room.hasModerators && !room.moderates(participant)) return { status: 403 };
  const { domain } = room.address;
  // A participant of another domain is named with that domain.
  const named = room.participantsAt(bracketUri(user, tools.isHere(host, domain) ? domain : host));
  if (named.length === 0) return { status: 404 };
  const accepted = () => {
    // The NOTIFY comes first, because the phone may remove itself.
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

/** Another call of the same account, whose peer can enter the room. */
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
