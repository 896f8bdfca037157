/** The XML list of conferences. */
import type { Conference } from '../conference.ts';
import type { Member } from '../member.ts';
import { memberFlags, newestFirst, secondsSince } from './nodes.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escape(value: string | number): string {
  return String(value).replace(/[&<>"]/g, (character) => ENTITIES[character] as string);
}

function tag(depth: number, name: string, value: string | number | boolean): string {
  return `${'  '.repeat(depth)}<${name}>${escape(String(value))}</${name}>\n`;
}

/** `conference xml_list`. */
export function xmlList(conferences: readonly Conference[]): string {
  if (conferences.length === 0) return '<?xml version="1.0"?>\n<conferences></conferences>\n';
  return `<?xml version="1.0"?>\n<conferences>\n${conferences.map(xmlOf).join('')}</conferences>\n`;
}

function xmlOf(conference: Conference): string {
  const { maxMembers } = conference;
  const attributes: [string, string | number][] = [
    ['name', conference.name],
    ['member-count', conference.size],
    ['ghost-count', conference.members.length - conference.size],
    ['rate', conference.rate],
    ['uuid', conference.uuid],
    ...flag('locked', conference.locked),
    ...flag('wait_mod', conference.waitsForModerator),
    ...['running', 'answered', 'enforce_min', 'dynamic'].flatMap((name) => flag(name, true)),
    ...flag('exit_sound', conference.exitSound),
    ...flag('enter_sound', conference.enterSound),
    ...(maxMembers > 0 ? [['max_members', maxMembers] as [string, number]] : []),
    ...flag('recording', conference.recordings.any),
    ['run_time', secondsSince(conference.startedAt)],
  ];
  const variables = [...conference.variables]
    .map(([name, value]) => `      <variable name="${escape(name)}" value="${escape(value)}"></variable>\n`)
    .join('');
  const members = newestFirst(conference).map((node) =>
    'member' in node
      ? xmlMember(node.member)
      : `      <member type="recording_node">\n        <record_path${node.recording.paused ? ' status="paused"' : ''}>` +
        `${escape(node.recording.name)}</record_path>\n        <join_time type="UNIX-epoch">` +
        `${Math.floor(node.recording.joinedAt / 1000)}</join_time>\n      </member>\n`,
  );
  return (
    `  <conference ${attributes.map(([name, value]) => `${name}="${escape(value)}"`).join(' ')}>\n` +
    `    <variables>${variables === '' ? '' : `\n${variables}    `}</variables>\n` +
    `    <members>\n${members.join('')}    </members>\n  </conference>\n`
  );
}

function flag(name: string, on: boolean): [string, string][] {
  return on ? [[name, 'true']] : [];
}

/** The order of a member's flags in FreeSWITCH. */
const FLAGS = [
  'can_hear',
  'can_see',
  'can_speak',
  'mute_detect',
  'talking',
  'hold',
  'has_video',
  'video_bridge',
  'has_floor',
  'is_moderator',
  'end_conference',
  'mandatory_member_end_conference',
];

function xmlMember(member: Member): string {
  const { profile, uuid } = member.channel;
  const flags = memberFlags(member);
  return [
    '      <member type="caller">\n',
    tag(4, 'id', member.id),
    '        <flags>\n',
    ...FLAGS.map((name) => tag(5, name, flags[name] === true)),
    tag(5, 'is_ghost', member.flags.has('ghost')),
    '        </flags>\n',
    tag(4, 'uuid', uuid),
    tag(4, 'caller_id_name', profile.callerIdName),
    tag(4, 'caller_id_number', profile.callerIdNumber ?? ''),
    tag(4, 'join_time', secondsSince(member.joinedAt)),
    tag(4, 'last_talking', member.lastTalkingAt === 0 ? 'N/A' : secondsSince(member.lastTalkingAt)),
    tag(4, 'energy', member.energyLevel),
    tag(4, 'volume_in', member.volumeIn),
    tag(4, 'volume_out', member.volumeOut),
    tag(4, 'output-volume', member.volumeOut),
    '      </member>\n',
  ].join('');
}
