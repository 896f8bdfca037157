/** Sub-commands of `conference` for sounds. */
import type { Conference } from '../conference.ts';
import type { Member } from '../member.ts';
import { type Action, type Command, SYNTAX } from './action.ts';

function memberOf(conference: Conference, word: string): Member | undefined {
  if (word.toLowerCase() === 'last') return conference.members.at(-1);
  return conference.member(Number.parseInt(word, 10));
}

const play: Action = async (conference, words) => {
  const beside = words.length > 1 && words.at(-1)?.toLowerCase() === 'async';
  const [file, who] = beside ? words.slice(0, -1) : words;
  if (file === undefined) return SYNTAX;
  if (who === undefined) {
    const found = await conference.sounds.play(file, beside);
    return found ? `+OK (play) Playing file ${file}\n` : `-ERR (play) File: ${file} not found.\n`;
  }
  const member = memberOf(conference, who);
  if (member === undefined) return `-ERR Member: ${Number.parseInt(who, 10) || 0} not found.\n`;
  return (await conference.sounds.playTo(member, file))
    ? `+OK (play) Playing file ${file} to member ${member.id}\n`
    : `-ERR (play) File: ${file} not found.\n`;
};

const stop: Action = (conference, [which = 'all', who]) => {
  const kind = which.toLowerCase();
  if (kind !== 'current' && kind !== 'all' && kind !== 'async') return SYNTAX;
  if (who === undefined) return `+OK Stopped ${conference.sounds.stop(kind)} files.\n`;
  const member = memberOf(conference, who);
  if (member === undefined) return `-ERR Member: ${who} not found.\n`;
  return `+OK Stopped ${kind === 'async' ? 0 : member.sounds.stop(kind === 'all')} files.\n`;
};

/** Conferences have no synthesizer, like a FreeSWITCH without one in its conference profile. */
const say: Action = () => '-ERR (say) Error!\nsay <text>';

/** `enter_sound`, `exit_sound`: profiles have no sounds, so only the flag in lists changes. */
const doorSound =
  (which: 'enter' | 'exit'): Action =>
  (conference, [value = '']) => {
    const on = value.toLowerCase() === 'on';
    if (!on && !/^(?:off|none)$/i.test(value)) return SYNTAX;
    conference[`${which}Sound`] = on;
    conference.publish(`${which}-sounds-${on ? 'on' : 'off'}`);
    return `+OK ${conference.name} ${which} sounds ${on ? 'on' : 'off'} ()\n`;
  };

/** Sub-commands that play. */
export const SOUND_COMMANDS: readonly (readonly [string, Command])[] = [
  ['enter_sound', { syntax: 'on|off|none|file <filename>', run: doorSound('enter') }],
  ['exit_sound', { syntax: 'on|off|none|file <filename>', run: doorSound('exit') }],
  ['play', { syntax: '<file_path> [async|<member_id> [nomux]]', run: play }],
  ['say', { syntax: '<text>', run: say }],
  ['stop', { syntax: '<[current|all|async|last]> [<member_id>]', run: stop }],
];
