/** Text lists of conferences and members. */
import type { Conference } from '../conference.ts';
import type { Member } from '../member.ts';

/** Format of a text list. */
export interface ListOptions {
  readonly form: 'lines' | 'pretty' | 'summary' | 'count';
  readonly delimiter: string;
}

/** Reads the words after `list`: `delim <string>`, `pretty`, `summary` or `count`. */
export function readListOptions([word = '', text]: readonly string[]): ListOptions {
  const form = word.toLowerCase();
  if (form === 'delim' && text !== undefined) return { form: 'lines', delimiter: text.replaceAll('"', '') || ';' };
  return { form: form === 'pretty' || form === 'summary' || form === 'count' ? form : 'lines', delimiter: ';' };
}

/** One line for each member, the newest first. */
export function listMembers(conference: Conference, { form, delimiter }: ListOptions): string {
  return conference.members
    .map((member) => (form === 'pretty' ? prettyLine(member) : line(member, delimiter)))
    .toReversed()
    .join('');
}

function line(member: Member, delimiter: string): string {
  const { channelName, callerIdName, callerIdNumber = '' } = member.channel.profile;
  const { id, channel, volumeIn, volumeOut, energyLevel } = member;
  const levels = [volumeIn, volumeOut, energyLevel];
  return `${[id, channelName, channel.uuid, callerIdName, callerIdNumber, flagsOf(member), ...levels].join(delimiter)}\n`;
}

function prettyLine({ id, channel }: Member): string {
  return `${id}) ${channel.profile.callerIdName} (${channel.profile.callerIdNumber ?? ''})\n`;
}

function flagsOf(member: Member): string {
  const flags = [
    ['hear', !member.held && !member.deaf],
    ['speak', !member.held && !member.muted],
    ['talking', !member.held && member.talking],
    ['hold', member.held],
    ['floor', member.hasFloor],
    ['moderator', member.moderator],
    ['ghost', member.flags.has('ghost')],
  ] as const;
  return flags.flatMap(([name, on]) => (on ? [name] : [])).join('|');
}

/** `conference list`: every conference with its members. */
export function listAll(conferences: readonly Conference[], options: ListOptions): string {
  if (conferences.length === 0) return '+OK No active conferences.\n';
  return conferences
    .map((conference) => head(conference) + (options.form === 'summary' ? '' : listMembers(conference, options)))
    .join('');
}

function head(conference: Conference): string {
  const { name, size, rate, locked, waitsForModerator, enterSound, exitSound, recordings } = conference;
  const flags = [
    ['locked', locked],
    ['wait_mod', waitsForModerator],
    ['running', true],
    ['answered', true],
    ['enforce_min', true],
    ['dynamic', true],
    ['exit_sound', exitSound],
    ['enter_sound', enterSound],
    ['recording', recordings.any],
    ['json_status', true],
  ] as const;
  const shown = flags.flatMap(([flag, on]) => (on ? [flag] : [])).join('|');
  const members = `${size} member${size === 1 ? '' : 's'}`;
  return `+OK Conference ${name} (${members} rate: ${rate}${locked ? ' locked' : ''} flags: ${shown})\n`;
}
