import type { ApiCommand } from '../api/command.ts';
import { SoundNotFoundError } from '../audio/sound-library.ts';
import { parseInlineDialplan, transfer } from '../channel/transfer.ts';
import type { MediaCore } from '../core/media-core.ts';
import type { Conference } from './conference.ts';
import { jsonList, listAll, listMembers } from './list.ts';
import type { Member } from './member.ts';
import { parameter, setParameter } from './parameters.ts';

type Action = (conference: Conference, words: string[], rest: string) => string | Promise<string>;

/** A sub-command for `all`, `last`, `non_moderator` or one member. */
function onMembers(run: (member: Member, words: string[]) => string): Action {
  return (conference, [who = '', ...words]) => {
    const members = select(conference, who);
    if (members === undefined) return `-ERR Non-Existant ID ${who}\n`;
    return members.map((member) => run(member, words)).join('');
  };
}

function select(conference: Conference, who: string): Member[] | undefined {
  const newestFirst = conference.members.toReversed();
  switch (who.toLowerCase()) {
    case 'all':
      return newestFirst;
    case 'last':
      return newestFirst.slice(0, 1);
    case 'non_moderator':
      return newestFirst.filter((member) => !member.moderator);
    default: {
      const member = /^\d+$/.test(who) ? conference.member(Number(who)) : undefined;
      return member === undefined ? undefined : [member];
    }
  }
}

const mute = (muted: boolean): Action =>
  onMembers((member) => {
    member.setMuted(muted);
    return `+OK ${muted ? 'mute' : 'unmute'} ${member.id}\n`;
  });

const deaf = (isDeaf: boolean): Action =>
  onMembers((member) => {
    member.setDeaf(isDeaf);
    return `+OK ${isDeaf ? 'deaf' : 'undeaf'} ${member.id}\n`;
  });

const leave = (action: 'kick' | 'hup', word: string): Action =>
  onMembers((member) => {
    member.conference.publish(`${action}-member`, member);
    member.leave();
    return `+OK ${word} ${member.id}\n`;
  });

/** `volume_in`, `volume_out`: shows or sets steps of 3 dB. */
const volume = (direction: 'volumeIn' | 'volumeOut', title: string): Action =>
  onMembers((member, [value]) => {
    if (value !== undefined && /^[+-]?\d$/.test(value)) member[direction] = Math.min(4, Math.max(-4, Number(value)));
    return `+OK Volume ${title} ${member.id} = ${member[direction]}\n`;
  });

const energyLevel: Action = onMembers((member, [value]) => {
  if (value !== undefined && /^\d{1,5}$/.test(value)) member.energyLevel = Number(value);
  return `Energy ${member.id} = ${member.energyLevel}\n`;
});

/** Automatic gain is not needed with a limiter: the setting is answered as the real server does with it off. */
const agc: Action = onMembers((member) => {
  member.conference.publish('agc-level-member', member);
  return `Agc ${member.id} = 0\n`;
});

const play: Action = async (conference, words) => {
  const [file = '', ...options] = words;
  if (file === '') return '-ERR Invalid syntax!\n';
  const id = options.find((word) => /^\d+$/.test(word));
  const member = id === undefined ? undefined : conference.member(Number(id));
  if (id !== undefined && member === undefined) return `-ERR Member: ${id} not found.\n`;
  try {
    await conference.play(file, member);
  } catch (error) {
    if (!(error instanceof SoundNotFoundError)) throw error;
    return `-ERR (play) File: ${file} not found.\n`;
  }
  return `+OK (play) Playing file ${file}${member === undefined ? '' : ` to member ${member.id}`}\n`;
};

const stop: Action = (conference, [which = 'all', id]) => {
  const member = id === undefined ? undefined : conference.member(Number(id));
  if (id !== undefined && member === undefined) return `-ERR Member: ${id} not found.\n`;
  const stopped = (member?.sounds ?? conference.sounds).stop(which !== 'current');
  return `+OK Stopped ${stopped} files.\n`;
};

const record: Action = async (conference, [file = '']) => {
  if (file === '') return '-ERR Invalid syntax!\n';
  try {
    await conference.record(file);
    return `+OK Record file ${file}\n`;
  } catch {
    return `-ERR Cannot record to ${file}\n`;
  }
};

const stopRecord: Action = async (conference, [file = 'all']) => {
  const stopped = await conference.stopRecording(file);
  if (stopped.length === 0) return `-ERR non-existant recording '${file}'\n`;
  // The count is always zero on the real server: it counts what is left to stop.
  return `${stopped.map((name) => `Stopped recording file ${name}\n`).join('')}+OK Stopped recording 0 files\n`;
};

const pauseRecord =
  (paused: boolean): Action =>
  (conference, [file = '']) => {
    const recording = conference.recordings.find((each) => each.name === file);
    if (recording === undefined) return `-ERR non-existant recording '${file}'\n`;
    recording.paused = paused;
    conference.publish(paused ? 'pause-recording' : 'resume-recording', undefined, { Path: file });
    return `+OK ${paused ? 'Pause' : 'Resume'} recording file ${file}\n`;
  };

const checkRecord: Action = (conference) =>
  conference.recordings.length === 0
    ? '-ERR Conference is not being recorded.\n'
    : conference.recordings.map(({ name, paused }) => `+OK Record file ${name}${paused ? ' (paused)' : ''}\n`).join('');

const recording: Action = (conference, [action = '', ...words], rest) => {
  const actions: Record<string, Action> = {
    start: record,
    stop: stopRecord,
    pause: pauseRecord(true),
    resume: pauseRecord(false),
    check: checkRecord,
  };
  return actions[action]?.(conference, words, rest) ?? '-ERR Invalid syntax!\n';
};

const lock =
  (locked: boolean): Action =>
  (conference) => {
    conference.locked = locked;
    conference.publish(locked ? 'lock' : 'unlock');
    return `+OK ${conference.name} ${locked ? 'locked' : 'unlocked'}\n`;
  };

/** `relate <members> <others> nospeak|nohear|clear`, members separated by commas. */
const relate: Action = (conference, [from = '', to = '', kind = '']) => {
  if (kind === '') return conference.relations.empty ? '+OK No relationships\n' : '';
  const relation = { nospeak: kind.includes('nospeak'), nohear: kind.includes('nohear') };
  if (kind !== 'clear' && !relation.nospeak && !relation.nohear) return '-ERR Invalid syntax!\n';
  const pairs = from.split(',').flatMap((one) => to.split(',').map((other) => [Number(one), Number(other)] as const));
  let answer = '';
  for (const [one, other] of pairs) {
    const known = conference.member(one) !== undefined && (kind === 'clear' || conference.member(other) !== undefined);
    if (!known) answer += `-ERR relationship ${one}->${other} not found.\n`;
    else if (kind === 'clear') {
      conference.relations.clear(one, other);
      answer += `+OK relationship ${one}->${other} cleared.\n`;
    } else {
      conference.relations.set(one, other, relation);
      answer += `+OK ${one}->${other} ${kind} set\n`;
    }
  }
  return answer;
};

const transferMember: Action = (conference, [target = '', ...ids]) => {
  if (target === '' || ids.length === 0) return '-ERR Invalid syntax!\n';
  let answer = '';
  for (const id of ids) {
    const member = conference.member(Number(id));
    if (member === undefined) {
      answer += `-ERR No Member ${id} in conference ${conference.name}.\n`;
      continue;
    }
    const destination = `conference:${target}${target.includes('@') ? '' : `@${conference.profile}`}`;
    conference.publish('transfer', member);
    conference.core.conferences.keepId(member.channel, member.id);
    transfer(member.channel, parseInlineDialplan(destination, 'inline'), destination, 'inline');
    answer += `+OK Member '${id}' sent to conference ${target}.\n`;
  }
  return answer;
};

const sendDigits: Action = onMembers((member, [digits = '']) => {
  member.channel.sendDigits(digits, 250);
  return `+OK sent ${digits} to ${member.id}\n`;
});

const giveFloor: Action = onMembers((member) => {
  member.conference.floor.give(member);
  return `+OK floor ${member.id}\n`;
});

const withoutVideo = (word: string): Action => onMembers((member) => `+OK ${word} ${member.id}\n`);

const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['agc', agc],
  ['chkrecord', checkRecord],
  ['deaf', deaf(true)],
  ['dtmf', sendDigits],
  ['energy', energyLevel],
  ['floor', giveFloor],
  ['get', (conference, [name = '']) => parameter(conference, name)],
  ['hup', leave('hup', 'hup')],
  ['json_list', (conference) => jsonList([conference])],
  ['kick', leave('kick', 'kicked')],
  ['list', (conference, words) => (words[0] === 'count' ? String(conference.size) : listMembers(conference))],
  ['lock', lock(true)],
  ['mute', mute(true)],
  ['norecord', stopRecord],
  ['pause', pauseRecord(true)],
  ['play', play],
  ['record', record],
  ['recording', recording],
  ['relate', relate],
  ['resume', pauseRecord(false)],
  ['set', (conference, [name = '', ...value]) => setParameter(conference, name, value.join(' '))],
  ['stop', stop],
  [
    'tmute',
    onMembers((member) => {
      member.setMuted(!member.muted);
      return `+OK ${member.muted ? 'mute' : 'unmute'} ${member.id}\n`;
    }),
  ],
  ['transfer', transferMember],
  ['undeaf', deaf(false)],
  ['unlock', lock(false)],
  ['unmute', mute(false)],
  ['unvmute', withoutVideo('unvmute')],
  ['vmute', withoutVideo('vmute')],
  ['volume_in', volume('volumeIn', 'IN')],
  ['volume_out', volume('volumeOut', 'OUT')],
]);

/** `conference <name> <action> ...`, `conference list`, `conference json_list`. */
export const conferenceCommand: ApiCommand = (core: MediaCore, argument) => {
  const [name = '', action = 'list', ...words] = argument.split(/\s+/).filter((word) => word !== '');
  if (action === 'list' && (name === 'list' || name === '')) return listAll(core.conferences.all());
  if (name === 'json_list') return jsonList(core.conferences.all());
  if (name === 'count') return String(core.conferences.size);
  const conference = core.conferences.get(name);
  if (conference === undefined) return `-ERR Conference ${name} not found\n`;
  const run = ACTIONS.get(action.toLowerCase());
  if (run === undefined) return `-ERR Conference command '${action}' not found.\n`;
  return run(conference, words, argument);
};
