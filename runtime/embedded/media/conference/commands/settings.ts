/** Sub-commands of `conference` for its settings. */
import { parseInlineDialplan, transfer } from '../../channel/transfer.ts';
import type { Conference } from '../conference.ts';
import { type Action, type Command, SYNTAX } from './action.ts';

/** The parameters that `get` shows. */
const PARAMETERS: Readonly<Record<string, (conference: Conference) => string>> = {
  count: ({ size }) => String(size),
  count_ghosts: ({ members, size }) => String(members.length - size),
  is_locked: ({ locked }) => (locked ? 'locked' : ''),
  max_members: ({ maxMembers }) => String(maxMembers),
  profile_name: ({ profile }) => profile,
  rate: ({ rate }) => String(rate),
  run_time: ({ startedAt }) => String(Math.floor(Date.now() / 1000) - Math.floor(startedAt / 1000)),
  uuid: ({ uuid }) => uuid,
  wait_mod: ({ waitsForModerator }) => (waitsForModerator ? 'true' : ''),
};

const get: Action = (conference, [name = '', ...more]) => {
  const read = Object.hasOwn(PARAMETERS, name.toLowerCase()) ? PARAMETERS[name.toLowerCase()] : undefined;
  return read === undefined || more.length > 0 ? SYNTAX : read(conference);
};

/** `set <parameter> <value>`: answers with the previous value. */
const set: Action = (conference, [name = '', value = '', ...more]) => {
  if (name.toLowerCase() !== 'max_members' || more.length > 0 || !/^\d{1,5}$/.test(value)) return SYNTAX;
  const former = String(conference.maxMembers);
  conference.maxMembers = Number(value);
  return former;
};

/** Largest number of variables of one conference. */
const MAX_VARIABLES = 100;

const getvar: Action = (conference, [name = '']) => conference.variables.get(name) ?? '';

const setvar: Action = (conference, [name, value = '']) => {
  if (name === undefined) return '+OK\n';
  if (value === '') conference.variables.delete(name);
  else if (conference.variables.has(name) || conference.variables.size < MAX_VARIABLES) {
    conference.variables.set(name, value);
  }
  return '+OK\n';
};

const pin: Action = (conference, words) => {
  if (words.length !== 1) return SYNTAX;
  conference.pin = words[0] as string;
  return `+OK Pin for conference ${conference.name} set: ${conference.pin}\n`;
};

const nopin: Action = (conference) => {
  conference.pin = '';
  return `+OK Pin for conference ${conference.name} deleted\n`;
};

const lock =
  (locked: boolean): Action =>
  (conference) => {
    conference.locked = locked;
    conference.publish(locked ? 'lock' : 'unlock');
    return `+OK ${conference.name} ${locked ? 'locked' : 'unlocked'}\n`;
  };

const transferMembers: Action = (conference, [target = '', ...ids]) => {
  if (target === '' || ids.length === 0) return SYNTAX;
  let answer = '';
  for (const id of ids) {
    const member = conference.member(Number(id));
    if (member === undefined) {
      answer += `-ERR No Member ${id} in conference ${conference.name}.\n`;
      continue;
    }
    const destination = `conference:${target}${target.includes('@') ? '' : '@default'}`;
    transfer([member.channel], parseInlineDialplan(destination, 'inline'), destination, 'inline');
    member.channel.set('last_transfered_conference', target.split('@')[0] as string);
    const names = { 'Old-Conference-Name': conference.name, 'New-Conference-Name': target };
    conference.publish('transfer', member, names);
    answer += `+OK Member '${member.id}' sent to conference ${target}.\n`;
  }
  return answer;
};

/** Sub-commands that show or change the conference itself. */
export const SETTING_COMMANDS: readonly (readonly [string, Command])[] = [
  ['get', { syntax: '<parameter-name>', run: get }],
  ['getvar', { syntax: '<varname>', run: getvar }],
  ['lock', { syntax: '', run: lock(true) }],
  ['nopin', { syntax: '', run: nopin }],
  ['pin', { syntax: '<pin#>', run: pin }],
  [
    'set',
    { syntax: '<max_members|sound_prefix|caller_id_name|caller_id_number|endconference_grace_time> <value>', run: set },
  ],
  ['setvar', { syntax: '<varname> <value>', run: setvar }],
  ['transfer', { syntax: '<conference_name> <member id> [...<member id>]', run: transferMembers }],
  ['unlock', { syntax: '', run: lock(false) }],
];
