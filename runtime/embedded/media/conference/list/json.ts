import type { Conference } from '../conference.ts';
import type { Member } from '../member.ts';
import { memberFlags, newestFirst, secondsSince } from './nodes.ts';

/** `conference json_list`. @param compact without white space */
export function jsonList(conferences: readonly Conference[], compact: boolean): string {
  return JSON.stringify(conferences.map(jsonOf), undefined, compact ? undefined : '\t');
}

function jsonOf(conference: Conference): object {
  const { maxMembers } = conference;
  return {
    conference_name: conference.name,
    member_count: conference.size,
    ghost_count: conference.members.length - conference.size,
    rate: conference.rate,
    run_time: secondsSince(conference.startedAt),
    conference_uuid: conference.uuid,
    canvas_count: 0,
    max_bw_in: 0,
    force_bw_in: 0,
    video_floor_packets: 0,
    locked: conference.locked,
    destruct: false,
    wait_mod: conference.waitsForModerator,
    audio_always: false,
    running: true,
    answered: true,
    enforce_min: true,
    bridge_to: false,
    dynamic: true,
    exit_sound: conference.exitSound,
    enter_sound: conference.enterSound,
    recording: conference.recordings.any,
    video_bridge: false,
    video_floor_only: false,
    video_rfc4579: false,
    ...(maxMembers > 0 ? { max_members: maxMembers } : {}),
    variables: Object.fromEntries(conference.variables),
    members: newestFirst(conference).map((node) =>
      'member' in node
        ? jsonMember(node.member)
        : {
            type: 'recording_node',
            record_path: node.recording.name,
            ...(node.recording.paused ? { status: 'paused' } : {}),
            join_time: Math.floor(node.recording.joinedAt / 1000),
          },
    ),
  };
}

function jsonMember(member: Member): object {
  const { profile, uuid } = member.channel;
  return {
    type: 'caller',
    id: member.id,
    flags: { ...memberFlags(member), pass_digits: member.flags.has('dist-dtmf') },
    uuid,
    caller_id_name: profile.callerIdName,
    caller_id_number: profile.callerIdNumber ?? '',
    join_time: secondsSince(member.joinedAt),
    last_talking: member.lastTalkingAt === 0 ? 0 : secondsSince(member.lastTalkingAt),
    energy: member.energyLevel,
    volume_in: member.volumeIn,
    volume_out: member.volumeOut,
    'output-volume': member.volumeOut,
    'input-volume': member.volumeIn,
  };
}
