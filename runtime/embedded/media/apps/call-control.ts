import { NO_RESPONSE, type ApplicationStart } from '../channel/application.ts';
import { words } from '../api/command.ts';
import type { Channel } from '../channel/channel.ts';
import { transferTo } from '../channel/transfer.ts';
import { hangupCause } from '../core/hangup-cause.ts';

/** What `send_dtmf` and `uuid_send_dtmf` take for a digit without a duration, in milliseconds. */
const DEFAULT_DIGIT_MS = 250;

/** `hangup [cause]`: gives the cause; the channel ends itself, since its own completion comes first. */
export const hangup: ApplicationStart = (_channel, data) => hangupCause(data);

/** Applications that have nothing left to do on a channel that was answered when it began. */
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

/** Hangs up after the `[+]<seconds> [cause]` given; returns false when that is no number. */
export function scheduleHangup(channel: Channel, data: string): boolean {
  const match = /^\+?(\d{1,8})(?:\s+(\S+))?/.exec(data.trim());
  if (match === null) return false;
  const cancel = channel.core.timers.after(Number(match[1]) * 1000, () => {
    channel.hangup(hangupCause(match[2] ?? 'ALLOTTED_TIMEOUT'), 'api');
  });
  channel.onEnd(cancel);
  return true;
}

/** Sends `<digits>[@<milliseconds>]` to the far end; returns false when there is no digit. */
export function sendDigits(channel: Channel, data: string): boolean {
  const match = /^([0-9*#A-Da-dWw]+)(?:@(\d{1,5}))?/.exec(data.trim());
  if (match === null) return false;
  channel.sendDigits(match[1] as string, match[2] === undefined ? DEFAULT_DIGIT_MS : Number(match[2]));
  return true;
}

/** `send_dtmf <digits>[@<milliseconds>]`. */
export const sendDtmf: ApplicationStart = (channel, data) => {
  sendDigits(channel, data);
  return NO_RESPONSE;
};
