import type { Conference } from './conference.ts';
import type { Member } from './member.ts';

/** One line for each member, the newest first. */
export function listMembers(conference: Conference): string {
  return conference.members
    .map((member) => {
      const { channelName, callerIdName, callerIdNumber = '' } = member.channel.profile;
      const { id, channel, volumeIn, volumeOut, energyLevel } = member;
      return `${[id, channelName, channel.uuid, callerIdName, callerIdNumber, flagsOf(member), volumeIn, volumeOut, energyLevel].join(';')}\n`;
    })
    .toReversed()
    .join('');
}

function flagsOf(member: Member): string {
  const flags = [
    ['hear', !member.deaf],
    ['speak', !member.muted],
    ['talking', member.talking],
    ['floor', member.conference.floor.holder === member && !member.muted],
    ['moderator', member.moderator],
    ['ghost', member.flags.has('ghost')],
  ] as const;
  return flags.flatMap(([name, on]) => (on ? [name] : [])).join('|');
}

/** `conference list`: every conference with its members. */
export function listAll(conferences: readonly Conference[]): string {
  if (conferences.length === 0) return '+OK No active conferences.\n';
  return conferences
    .map((conference) => {
      const { size } = conference;
      const flags = [
        ...(conference.locked ? ['locked'] : []),
        ...(conference.waitsForModerator ? ['wait_mod'] : []),
        'running|answered|enforce_min|dynamic|exit_sound|enter_sound|json_status',
      ].join('|');
      const head = `+OK Conference ${conference.name} (${size} member${size === 1 ? '' : 's'} rate: 8000 flags: ${flags})\n`;
      return head + listMembers(conference);
    })
    .join('');
}

/** `conference json_list`. */
export function jsonList(conferences: readonly Conference[]): string {
  return JSON.stringify(conferences.map(jsonOf), undefined, '\t');
}

function jsonOf(conference: Conference): object {
  const seconds = (since: number): number => Math.floor((Date.now() - since) / 1000);
  return {
    conference_name: conference.name,
    member_count: conference.size,
    ghost_count: conference.members.length - conference.size,
    rate: 8000,
    run_time: seconds(conference.startedAt),
    conference_uuid: conference.uuid,
    locked: conference.locked,
    destruct: false,
    wait_mod: conference.waitsForModerator,
    audio_always: false,
    running: true,
    answered: true,
    enforce_min: true,
    dynamic: true,
    exit_sound: true,
    enter_sound: true,
    recording: conference.recordings.length > 0,
    variables: {},
    members: conference.members
      .map((member) => ({
        type: 'caller',
        id: member.id,
        flags: {
          can_hear: !member.deaf,
          can_see: true,
          can_speak: !member.muted,
          hold: false,
          mute_detect: member.flags.has('mute-detect'),
          talking: member.talking,
          has_video: false,
          video_bridge: false,
          has_floor: conference.floor.holder === member,
          is_moderator: member.moderator,
          end_conference: member.flags.has('endconf'),
          mandatory_member_end_conference: false,
          pass_digits: member.flags.has('dist-dtmf'),
        },
        uuid: member.channel.uuid,
        caller_id_name: member.channel.profile.callerIdName,
        caller_id_number: member.channel.profile.callerIdNumber ?? '',
        join_time: seconds(member.joinedAt),
        last_talking: 0,
        energy: member.energyLevel,
        volume_in: member.volumeIn,
        volume_out: member.volumeOut,
        'output-volume': member.volumeOut,
        'input-volume': member.volumeIn,
      }))
      .toReversed(),
  };
}
