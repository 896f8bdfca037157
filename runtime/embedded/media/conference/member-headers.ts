import { channelHeaders } from '../channel/headers.ts';
import type { EventHeaders } from '../esl/event.ts';
import type { Member } from './member.ts';

/** The headers of a member in a conference event: its channel's, then its own. */
export function memberHeaders(member: Member): EventHeaders {
  return {
    Floor: String(member.hasFloor),
    ...channelHeaders(member.channel),
    Video: 'false',
    Hear: String(!member.deaf),
    See: String(!member.flags.has('vmute')),
    Speak: String(!member.muted),
    Talking: String(member.talking),
    'Mute-Detect': String(member.flags.has('mute-detect')),
    Hold: String(member.held),
    'Member-ID': String(member.id),
    'Member-Type': member.moderator ? 'moderator' : 'member',
    'Member-Ghost': String(member.flags.has('ghost')),
    'Energy-Level': String(member.energyLevel),
    'Current-Energy': String(member.currentEnergy),
  };
}
