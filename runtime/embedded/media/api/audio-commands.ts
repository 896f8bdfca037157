/** API commands for the audio of a channel. */
import { SoundNotFoundError } from '../audio/sound-library.ts';
import { startDisplacement, stopDisplacement } from '../channel/displace.ts';
import { parseToneDetect, ToneDetection } from '../recording/tone-detection.ts';
import { onChannel } from './channel-commands.ts';
import { NO_SESSION, OK, SUCCESS } from './command.ts';

/** `uuid_displace <uuid> start|stop <file> [<seconds>] [mux]`. */
export const uuidDisplace = onChannel(async (channel, [action = '', file = '', limit = '0', ...flags]) => {
  if (action === 'stop') return stopDisplacement(channel) ? SUCCESS : '-ERR Cannot stop displace session!\n';
  if (action !== 'start' || file === '') return '-USAGE: <uuid> [start|stop] <path> [<limit>] [mux]\n';
  try {
    const mux = flags.includes('mux') || limit === 'mux';
    await startDisplacement(channel, file, Number(limit) || 0, mux);
    return SUCCESS;
  } catch (error) {
    if (error instanceof SoundNotFoundError) return '-ERR Cannot displace session!\n';
    throw error;
  }
}, NO_SESSION);

/** `uuid_audio <uuid> start read|write mute|level <n>` and `stop`: -4 to 4, steps of 3 dB; mute 1. */
export const uuidAudio = onChannel((channel, [action = '', direction = '', what = '', value = '']) => {
  const { rtp } = channel;
  if (action === 'stop') {
    rtp.setGain('read', 0);
    rtp.setGain('write', 0);
    rtp.mutedIn = false;
    rtp.mutedOut = false;
    return OK;
  }
  const number = Number(value);
  const known =
    action === 'start' && (direction === 'read' || direction === 'write') && (what === 'mute' || what === 'level');
  if (!known || !Number.isInteger(number)) return '-USAGE: <uuid> [start [read|write] [mute|level <level>]|stop]\n';
  if (what === 'level') rtp.setGain(direction, Math.min(4, Math.max(-4, number)));
  else if (direction === 'read') rtp.mutedIn = number > 0;
  else rtp.mutedOut = number > 0;
  return OK;
});

/** `uuid_fileman <uuid> pause`: pauses or resumes the current file. */
export const uuidFileman = onChannel((channel, [action]) => {
  if (action !== 'pause') return '-USAGE: <uuid> pause\n';
  return channel.pauseFile() ? OK : '-ERR No file handle!\n';
});

/** `tone_detect <uuid> <key> <frequencies> ...`. */
export const toneDetect = onChannel((channel, given) => {
  const [key, frequencies, flags = ''] = given;
  if (key === undefined || frequencies === undefined) return '';
  const rules = parseToneDetect(given);
  if (rules !== undefined) ToneDetection.start(channel, rules);
  return `+OK Enabling tone detection '${key}' '${frequencies}' '${flags}'\n`;
}, NO_SESSION);
