import { SessionRecording } from '../recording/session-recording.ts';
import { onChannel } from './channel-commands.ts';
import { NO_SESSION, SUCCESS } from './command.ts';

const USAGE = '-USAGE: <uuid> [start|stop|mask|unmask] <path> [<limit>] [<recording_vars>]\n';

/** `uuid_record <uuid> start|stop|mask|unmask <file>|all [<seconds>]`. */
export const uuidRecord = onChannel(async (channel, [action = '', name = '', limit = '0']) => {
  if (name === '') return USAGE;
  if (action === 'start') {
    try {
      await SessionRecording.start(channel, name, Number(limit) || 0);
      return SUCCESS;
    } catch {
      return '-ERR Cannot record session!\n';
    }
  }
  const recordings = SessionRecording.of(channel).filter((each) => name === 'all' || each.name === name);
  if (action !== 'stop' && action !== 'mask' && action !== 'unmask') return USAGE;
  if (recordings.length === 0)
    return action === 'stop' ? '-ERR Cannot stop record session!\n' : `-ERR Cannot ${action} recording session!\n`;
  if (action === 'stop') await Promise.all(recordings.map((each) => each.stop()));
  else for (const each of recordings) each.mask(action === 'mask');
  return SUCCESS;
}, NO_SESSION);
