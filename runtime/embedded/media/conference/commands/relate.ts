/** The sub-command `conference relate`. */
import type { Conference } from '../conference.ts';
import { type Action, type Command, SYNTAX } from './action.ts';

/** Largest number of members in one list. */
const MAX_NAMED = 100;

function ids(list: string): number[] {
  return list
    .split(',')
    .slice(0, MAX_NAMED)
    .map((each) => Number.parseInt(each, 10) || 0);
}

function show(conference: Conference, list: string | undefined): string {
  const { relations } = conference;
  if (relations.empty) return '+OK No relationships\n';
  if (list === undefined) return '';
  const named = ids(list).flatMap((id) => (conference.member(id) === undefined ? [] : relations.of(id)));
  return named
    .map(({ member, other, relation }) => {
      const words = [
        relation.nospeak ? 'NOSPEAK' : 'SPEAK',
        relation.nohear ? 'NOHEAR' : 'HEAR',
        relation.sendvideo ? 'SENDVIDEO' : 'NOSENDVIDEO',
      ];
      return `${member} -> ${other} ${words.join(' ')} \n`;
    })
    .join('');
}

/** Sets or clears the relation of one member to another; returns the answer. */
function relateTo(conference: Conference, one: number, other: number, action: string): string {
  const member = conference.member(one);
  const clears = action.toLowerCase() === 'clear';
  if (member === undefined || (!clears && conference.member(other) === undefined)) {
    return `-ERR relationship ${one}->${other} not found.\n`;
  }
  if (clears) {
    conference.relations.clear(one, other);
    return `+OK relationship ${one}->${other} cleared.\n`;
  }
  const [nospeak, nohear, sendvideo] = ['nospeak', 'nohear', 'sendvideo'].map((word) => action.includes(word));
  conference.relations.set(one, other, {
    nospeak: nospeak === true,
    nohear: nohear === true,
    sendvideo: sendvideo === true,
  });
  if (nospeak === true) member.stopTalking();
  return `+OK ${one}->${other} ${action} set\n`;
}

/**
 * `relate <members> <others> nospeak|nohear|sendvideo|clear`: sets who does not hear whom. With one list it shows the
 * relations of these members. `sendvideo` has no effect, because there is no video.
 */
const relate: Action = (conference, [from, to, action]) => {
  if (to === undefined || from === undefined) return show(conference, from);
  if (action === undefined || !/nospeak|nohear|sendvideo|^clear$/i.test(action)) return SYNTAX;
  const pairs = ids(from).flatMap((one) => ids(to).map((other) => [one, other] as const));
  return pairs.map(([one, other]) => relateTo(conference, one, other, action)).join('');
};

export const RELATE_COMMANDS: readonly (readonly [string, Command])[] = [
  [
    'relate',
    {
      syntax: '<member_id>[,<member_id>] <other_member_id>[,<other_member_id>] [nospeak|nohear|clear]',
      run: relate,
    },
  ],
];
