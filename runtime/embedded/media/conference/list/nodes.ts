import type { ConferenceRecording } from '../conference-recording.ts';
import type { Conference } from '../conference.ts';
import { Member } from '../member.ts';

/** The entries of a conference's lists, the newest first: members and recordings. */
export function newestFirst(
  conference: Conference,
): ({ readonly member: Member } | { readonly recording: ConferenceRecording })[] {
  return [...conference.members, ...conference.recordings.running]
    .toSorted((one, other) => one.joinedAt - other.joinedAt)
    .toReversed()
    .map((node) => (node instanceof Member ? { member: node } : { recording: node }));
}

/** Whole seconds since a time in milliseconds, as FreeSWITCH counts them. */
export function secondsSince(milliseconds: number): number {
  return Math.floor(Date.now() / 1000) - Math.floor(milliseconds / 1000);
}

/** The flags of a member, named as in the JSON and XML lists. */
export function memberFlags(member: Member): Readonly<Record<string, boolean>> {
  const { held } = member;
  return {
    can_hear: !held && !member.deaf,
    can_see: !held,
    can_speak: !held && !member.muted,
    hold: held,
    mute_detect: member.flags.has('mute-detect'),
    talking: !held && member.talking,
    has_video: false,
    video_bridge: false,
    has_floor: member.hasFloor,
    is_moderator: member.moderator,
    end_conference: member.flags.has('endconf'),
    mandatory_member_end_conference: false,
  };
}
