/** Sub-commands of `conference` for members. */
import type { Member } from '../member.ts';
import { type Action, type Command, onMembers, TARGET } from './action.ts';

const mute = (member: Member, muted: boolean): string => {
  member.setMuted(muted);
  return `+OK ${muted ? 'mute' : 'unmute'} ${member.id}\n`;
};

const deaf = (isDeaf: boolean): Action =>
  onMembers((member) => {
    member.setDeaf(isDeaf);
    return `+OK ${isDeaf ? 'deaf' : 'undeaf'} ${member.id}\n`;
  });

const hold = onMembers((member, file, conference) => {
  member.setHeld(true);
  // As in FreeSWITCH, a missing sound does not fail the command.
  if (file !== undefined) void conference.sounds.playTo(member, file);
  return `+OK hold ${member.id}\n`;
});

const unhold = onMembers((member) => {
  member.setHeld(false);
  return `+OK unhold ${member.id}\n`;
});

const leave = (action: 'kick' | 'hup', word: string): Action =>
  onMembers((member) => {
    member.leave();
    member.publish(`${action}-member`);
    return `+OK ${word} ${member.id}\n`;
  });

/** The new level: a number, a step `up` or `down`, or else the current one. */
function level(current: number, value: string, step: number, least: number, most: number): number {
  const steps: Readonly<Record<string, number>> = { up: current + step, down: current - step };
  const wanted = steps[value.toLowerCase()] ?? (Number.parseInt(value, 10) || 0);
  return Math.min(most, Math.max(least, wanted));
}

/** `volume_in`, `volume_out`: steps of 3 dB. */
const volume = (direction: 'volumeIn' | 'volumeOut', title: 'IN' | 'OUT'): Action =>
  onMembers((member, value) => {
    if (value !== undefined) {
      member[direction] = level(member[direction], value, 1, -4, 4);
      const headers = { 'Volume-Level': String(member[direction]) };
      member.publish(`volume-${title.toLowerCase()}-member`, headers);
    }
    return `+OK Volume ${title} ${member.id} = ${member[direction]}\n`;
  });

const energy = onMembers((member, value) => {
  if (value !== undefined) {
    member.energyLevel = level(member.energyLevel, value, 200, 0, 32_767);
    member.publish('energy-level-member');
  }
  return `Energy ${member.id} = ${member.energyLevel}\n`;
});

/** Automatic gain control. The limiter makes it needless, so the answer is FreeSWITCH's for gain control off. */
const agc = onMembers((member, value) => {
  if (value !== undefined) member.publish('agc-level-member', { 'Agc-Level': '0' });
  return `Agc ${member.id} = 0\n`;
});

const sendDigits = onMembers((member, digits = '') => {
  if (digits === '') return '-ERR Invalid input!\n';
  member.channel.sendDigits(digits, 250);
  member.publish('dtmf-member', { Digits: digits });
  return `+OK sent ${digits} to ${member.id}\n`;
});

const floor = onMembers((member, _argument, { floor: held }) => {
  if (held.holder !== undefined && held.holder !== member) return `-ERR floor is held by ${held.holder.id}\n`;
  if (held.holder === member) {
    held.drop();
    return '+OK floor none\n';
  }
  held.give(member);
  return `+OK floor ${member.id}\n`;
});

const withoutVideo = (word: string): Action => onMembers((member) => `+OK ${word} ${member.id}\n`);

const LEVEL = '<member_id|all|last|non_moderator> [<newval>]';
const QUIET = `${TARGET} [<quiet>]`;
const MEMBERS = '<[member_id|all|last|non_moderator]>';

/** Sub-commands for members. */
export const MEMBER_COMMANDS: readonly (readonly [string, Command])[] = [
  ['agc', { syntax: LEVEL, run: agc }],
  ['deaf', { syntax: TARGET, run: deaf(true) }],
  ['dtmf', { syntax: `${MEMBERS} <digits>`, run: sendDigits }],
  ['energy', { syntax: LEVEL, run: energy }],
  ['floor', { syntax: '<member_id|last>', run: floor }],
  ['get-uuid', { syntax: '<member_id|last>', run: onMembers((member) => member.channel.uuid) }],
  ['hold', { syntax: `${TARGET} [file]`, run: hold }],
  ['hup', { syntax: MEMBERS, run: leave('hup', 'hup') }],
  ['kick', { syntax: `${MEMBERS} [<optional sound file>]`, run: leave('kick', 'kicked') }],
  ['mute', { syntax: QUIET, run: onMembers((member) => mute(member, true)) }],
  ['tmute', { syntax: QUIET, run: onMembers((member) => mute(member, !member.muted)) }],
  ['undeaf', { syntax: TARGET, run: deaf(false) }],
  ['unhold', { syntax: TARGET, run: unhold }],
  ['unmute', { syntax: QUIET, run: onMembers((member) => mute(member, false)) }],
  ['unvmute', { syntax: QUIET, run: withoutVideo('unvmute') }],
  ['vmute', { syntax: QUIET, run: withoutVideo('vmute') }],
  ['volume_in', { syntax: LEVEL, run: volume('volumeIn', 'IN') }],
  ['volume_out', { syntax: LEVEL, run: volume('volumeOut', 'OUT') }],
];
