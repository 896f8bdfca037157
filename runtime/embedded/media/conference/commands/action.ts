/** Sub-commands of the API command `conference`: their type and targets. */
import type { Conference } from '../conference.ts';
import type { Member } from '../member.ts';

/** Result of a sub-command with invalid arguments: the answer is then its syntax. */
export const SYNTAX = Symbol('syntax');

/** The result of a sub-command. */
export type Answer = string | typeof SYNTAX;

/** A sub-command of `conference <name>`; `words` are the arguments after its name. */
export type Action = (conference: Conference, words: readonly string[]) => Answer | Promise<Answer>;

/** A sub-command, and the syntax shown for invalid arguments. */
export interface Command {
  readonly syntax: string;
  readonly run: Action;
}

/** Syntax of the target of a sub-command for members. */
export const TARGET = '<[member_id|all]|last|non_moderator>';

/**
 * Makes a sub-command for `all`, `last`, `non_moderator`, a member id, or the member whose channel has
 * `variable=value`.
 *
 * @param action handles one member, with the word after the target; returns the answer
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
