/** The API command `conference`. */
import type { ApiCommand } from '../../api/command.ts';
import type { MediaCore } from '../../core/media-core.ts';
import { jsonList } from '../list/json.ts';
import { listAll, listMembers, readListOptions } from '../list/text.ts';
import { xmlList } from '../list/xml.ts';
import { type Action, type Answer, type Command, SYNTAX } from './action.ts';
import { MEMBER_COMMANDS } from './members.ts';
import { RECORDING_COMMANDS } from './recording.ts';
import { RELATE_COMMANDS } from './relate.ts';
import { SETTING_COMMANDS } from './settings.ts';
import { SOUND_COMMANDS } from './sound.ts';

const list: Action = (conference, words) => {
  const options = readListOptions(words);
  return options.form === 'count' ? String(conference.size) : listMembers(conference, options);
};

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['count', { syntax: '', run: (conference) => String(conference.size) }],
  ['json_list', { syntax: '[compact]', run: (conference, [form]) => jsonList([conference], form === 'compact') }],
  ['list', { syntax: '[delim <string>]|[count]', run: list }],
  ['xml_list', { syntax: '', run: (conference) => xmlList([conference]) }],
  ...MEMBER_COMMANDS,
  ...RECORDING_COMMANDS,
  ...RELATE_COMMANDS,
  ...SETTING_COMMANDS,
  ...SOUND_COMMANDS,
] satisfies (readonly [string, Command])[]);

/** `conference` without arguments: lists the sub-commands. */
function usage(): string {
  return [...COMMANDS].map(([name, { syntax }]) => `<conf name> ${name} ${syntax}\n`).join('');
}

/** Commands about all conferences, given in place of a conference's name. */
function aboutAll(core: MediaCore, name: string, words: readonly string[]): string | undefined {
  switch (name) {
    case 'list':
      return listAll(core.conferences.all(), readListOptions(words));
    case 'json_list':
      return jsonList(core.conferences.all(), words[0] === 'compact');
    case 'xml_list':
      return xmlList(core.conferences.all());
    case 'count':
      return String(core.conferences.size);
    default:
      return undefined;
  }
}

/** `conference <name> <action> ...`, `conference list|xml_list|json_list|count`. */
export const conferenceCommand: ApiCommand = (core, argument) => {
  const [name, ...words] = argument.split(/\s+/).filter((word) => word !== '');
  if (name === undefined) return usage();
  const general = aboutAll(core, name.toLowerCase(), words);
  if (general !== undefined) return general;
  const conference = core.conferences.get(name);
  if (conference === undefined) return `-ERR Conference ${name} not found\n`;
  const [action, ...rest] = words;
  if (action === undefined) return "Conference command, not specified.\nTry 'help'\n";
  const command = COMMANDS.get(action.toLowerCase());
  if (command === undefined) return `-ERR Conference command '${action}' not found.\n`;
  const answer = command.run(conference, rest);
  const written = (given: Answer): string => (given === SYNTAX ? `${action.toLowerCase()} ${command.syntax}` : given);
  return answer instanceof Promise ? answer.then(written) : written(answer);
};
