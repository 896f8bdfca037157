import type { Conference } from '../conference.ts';
import type { Member } from '../member.ts';

/** A sub-command could not read its arguments: the answer is its syntax. */
export const SYNTAX = Symbol('syntax');

/** What a sub-command answers. */
export type Answer = string | typeof SYNTAX;

/** A sub-command of `conference <name>`; `words` are those after its own name. */
export type Action = (conference: Conference, words: readonly string[]) => Answer | Promise<Answer>;

/** A sub-command with the syntax that is shown when it is used wrongly. */
export interface Command {
  readonly syntax: string;
  readonly run: Action;
}

/** Whom a sub-command for members can be for. */
export const TARGET = '<[member_id|all]|last|non_moderator>';

/**
 * A sub-command for `all`, `last`, `non_moderator`, one member by id, or the one whose channel has `variable=value`.
 *
 * @param action what it does to one member of a conference, with the word after the target; its answer
 */
export function onMembers(
  action: (member: Member, argument: string | undefined, conference: Conference) => string,
): Action {
  return (conference, [who = '', argument]) => {
    const run = (member: Member): string => action(member, argument, conference);
    const newestFirst = conference.members.toReversed();
    if (/^[1-9]\d*$/.test(who)) {
      const member = conference.member(Number(who));
      return member === undefined ? `-ERR Non-Existant ID ${Number(who)}\n` : run(member);
    }
    switch (who.toLowerCase()) {
      case 'all':
        return newestFirst.map(run).join('');
      case 'last':
        return newestFirst.slice(0, 1).map(run).join('');
      case 'non_moderator':
        return newestFirst
          .map((member) => (member.moderator ? `Skipping moderator (member id ${member.id}).\n` : run(member)))
          .join('');
      default:
        return onVariable(newestFirst, who, run);
    }
  };
}

function onVariable(members: readonly Member[], who: string, run: (member: Member) => string): Answer {
  const equals = who.indexOf('=');
  if (equals < 0) return SYNTAX;
  const member = members.find(({ channel }) => channel.get(who.slice(0, equals)) === who.slice(equals + 1));
  return member === undefined ? '-ERR Non-Existant member\n' : run(member);
}
