/** Applications that control a call: hangup, transfer, digits, mute. */
import { NO_RESPONSE, type ApplicationStart } from '../channel/application.ts';
import { words } from '../api/command.ts';
import type { Channel } from '../channel/channel.ts';
import { transferTo } from '../channel/transfer.ts';
import { hangupCause } from '../core/hangup-cause.ts';

/** Default duration of a digit of `send_dtmf` and `uuid_send_dtmf`, ms. */
const DEFAULT_DIGIT_MS = 250;

/** `hangup [cause]`: returns the cause. The channel ends itself after the event of the completed application. */
export const hangup: ApplicationStart = (_channel, data) => hangupCause(data);

/** Applications without effect here, because every channel is answered from the start. */
export const nothing: ApplicationStart = () => NO_RESPONSE;

/** `transfer [-bleg|-both] <applications> inline`. */
export const transferCall: ApplicationStart = (channel, data) => {
  transferTo(channel, words(data));
  return NO_RESPONSE;
};

/** `set_mute read|write|both true|false`. */
export const setMute: ApplicationStart = (channel, data) => {
  const [direction = '', value = ''] = data.trim().split(/\s+/);
  const muted = /^(true|on|yes|1)$/i.test(value);
  if (direction === 'read' || direction === 'both') channel.rtp.mutedIn = muted;
  if (direction === 'write' || direction === 'both') channel.rtp.mutedOut = muted;
  return NO_RESPONSE;
};

/** `sched_hangup +<seconds> [cause]`. */
export const schedHangup: ApplicationStart = (channel, data) => {
  scheduleHangup(channel, data);
  return NO_RESPONSE;
};

/** Schedules a hangup by `[+]<seconds> [cause]`. Returns false when the seconds are not a number. */
export function scheduleHangup(channel: Channel, data: string): boolean {
  const match = /^\+?(\d{1,8})(?:\s+(\S+))?/.exec(data.trim());
  if (match === null) return false;
  const cancel = channel.core.timers.after(Number(match[1]) * 1000, () => {
    channel.hangup(hangupCause(match[2] ?? 'ALLOTTED_TIMEOUT'), 'api');
  });
  channel.onEnd(cancel);
  return true;
}

/** Sends `[~]<digits>[@<milliseconds>]` to the far end, with `~` as tones if it has any. Returns false without a digit. */
export function sendDigits(channel: Channel, data: string): boolean {
  const match = /^(~?)([0-9*#A-Da-dWw]+)(?:@(\d{1,5}))?/.exec(data.trim());
  if (match === null) return false;
  const [, mark, digits = '', milliseconds = DEFAULT_DIGIT_MS] = match;
  channel.sendDigits(digits, Number(milliseconds), { tones: mark === '~' });
  return true;
}

/** `send_dtmf <digits>[@<milliseconds>]`. */
export const sendDtmf: ApplicationStart = (channel, data) => {
  sendDigits(channel, data);
  return NO_RESPONSE;
};
