/** API commands for the recordings of a channel. */
import { SessionRecording } from '../recording/session-recording.ts';
import { onChannel } from './channel-commands.ts';
import { NO_SESSION, SUCCESS } from './command.ts';

const USAGE = '-USAGE: <uuid> [start|stop|mask|unmask] <path> [<limit>] [<recording_vars>]\n';

/** Actions on a running recording. */
const ACTIONS: Readonly<Record<string, (recording: SessionRecording) => Promise<void> | undefined>> = {
  mask: (recording) => void recording.mask(true),
  pause: (recording) => void recording.pause(true),
  resume: (recording) => void recording.pause(false),
  stop: (recording) => recording.stop(),
  unmask: (recording) => void recording.mask(false),
};

/** `{name=value,name=value}`, percent-encoded, as the last argument of `start`. */
function recordingVariables(text: string | undefined): Map<string, string> {
  const list = /^\{(.*)\}$/s.exec(decode(text ?? ''))?.[1] ?? '';
  const pairs = list.split(',').filter((pair) => pair.includes('='));
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1)]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone percent sign
  }
}

/** `uuid_buglist <uuid>`: the media taps of a channel. */
export const uuidBuglist = onChannel((channel) => {
  const taps = SessionRecording.of(channel).map(
    ({ name }) =>
      ` <media-bug>\n  <function>session_record</function>\n  <target>${name}</target>\n` +
      '  <thread-locked>0</thread-locked>\n </media-bug>\n',
  );
  return `<media-bugs>\n${taps.join('')}</media-bugs>\n`;
}, '');

/** `uuid_record <uuid> start|stop|pause|resume|mask|unmask <file>|all [<seconds>] [{<variables>}]`. */
export const uuidRecord = onChannel(async (channel, [action = '', name = '', limit = '0', variables]) => {
  if (name === '') return USAGE;
  if (action === 'start') {
    try {
      await SessionRecording.start(channel, name, Number(limit) || 0, recordingVariables(variables));
      return SUCCESS;
    } catch {
      return '-ERR Cannot record session!\n';
    }
  }
  const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (act === undefined) return USAGE;
  const recordings = SessionRecording.of(channel).filter((each) => name === 'all' || each.name === name);
  if (recordings.length === 0)
    return `-ERR Cannot ${action === 'stop' ? 'stop record' : `${action} recording`} session!\n`;
  await Promise.all(recordings.map(async (each) => act(each)));
  return SUCCESS;
}, NO_SESSION);
