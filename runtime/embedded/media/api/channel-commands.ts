/** API commands for a channel. */
import { scheduleHangup, sendDigits } from '../apps/call-control.ts';
import type { Channel } from '../channel/channel.ts';
import { bridge } from '../channel/bridge.ts';
import { dumpHeaders } from '../channel/headers.ts';
import { parseInlineDialplan, transfer, transferTo } from '../channel/transfer.ts';
import { hangupCause } from '../core/hangup-cause.ts';
import { plainHeaders } from '../esl/event.ts';
import { type ApiCommand, NO_CHANNEL, NO_SESSION, OK, words } from './command.ts';
import { MEDIA_VARIABLES } from './media-variables.ts';

/**
 * Makes a command whose first word is the id of a live channel.
 *
 * @param missing the command's answer for an unknown channel; FreeSWITCH's differs between commands
 */
export function onChannel(
  run: (channel: Channel, rest: string[], argument: string) => string | Promise<string>,
  missing = NO_CHANNEL,
): ApiCommand {
  return (core, argument) => {
    const [uuid = '', ...rest] = words(argument);
    const channel = core.channels.get(uuid);
    return channel === undefined || channel.ended ? missing : run(channel, rest, argument);
  };
}

/** `uuid_exists <uuid>`. */
export const uuidExists: ApiCommand = (core, argument) => String(core.channels.has(argument));

/** `uuid_kill <uuid> [cause]`. */
export const uuidKill = onChannel((channel, [cause = '']) => {
  // After the answer, because the call may close the connection that the answer goes to.
  queueMicrotask(() => channel.hangup(hangupCause(cause), 'api'));
  return OK;
});

/** `uuid_dump <uuid> [json]`. */
export const uuidDump = onChannel((channel, [format]) =>
  format === 'json' ? JSON.stringify(dumpHeaders(channel)) : `${plainHeaders(dumpHeaders(channel))}\n`,
);

/** `uuid_set_media_stats <uuid>`: sets variables to the media counters. */
export const uuidSetMediaStats = onChannel((channel) => {
  for (const [name, figure] of MEDIA_VARIABLES) {
    const value = figure(channel.rtp);
    if (value !== undefined) channel.variables.set(name, value);
  }
  return '+OK:\n';
});

/** `uuid_getvar <uuid> <name>`. */
export const uuidGetvar = onChannel((channel, [name]) =>
  name === undefined ? '-USAGE: <uuid> <var>\n' : (channel.get(name) ?? '_undef_'),
);

/** `uuid_setvar <uuid> <name> [value]`. */
export const uuidSetvar = onChannel((channel, [name, ...value]) => {
  if (name === undefined) return '-USAGE: <uuid> <var> [value]\n';
  channel.set(name, value.join(' '));
  return OK;
});

/** `uuid_setvar_multi <uuid> name=value;name=value`. */
export const uuidSetvarMulti = onChannel((channel, _rest, argument) => {
  const list = argument.slice(argument.indexOf(' ') + 1);
  for (const assignment of list.split(';')) {
    const equals = assignment.indexOf('=');
    if (equals > 0) channel.set(assignment.slice(0, equals).trim(), assignment.slice(equals + 1));
  }
  return OK;
});

/** `uuid_break <uuid> [all]`. */
export const uuidBreak = onChannel((channel, [all]) => {
  channel.requestBreak(all === 'all' || all === 'both');
  return OK;
});

/** `uuid_send_dtmf <uuid> <digits>[@<milliseconds>]`. */
export const uuidSendDtmf = onChannel((channel, [digits]) => {
  if (digits === undefined) return '-USAGE: <uuid> <dtmf_data>\n';
  return sendDigits(channel, digits) ? `+OK ${channel.uuid} sent DTMF ${digits}.\n` : '-ERR Operation failed\n';
}, NO_SESSION);

/** `uuid_recv_dtmf <uuid> <digits>`: handles the digits as if the far end had sent them. */
export const uuidRecvDtmf = onChannel((channel, [digits = '']) => {
  const match = /^([0-9*#A-D]+)(?:@(\d{1,5}))?$/i.exec(digits);
  if (match === null) return '-USAGE: <uuid> <dtmf_data>\n';
  for (const digit of (match[1] as string).toUpperCase())
    channel.receiveDigit(digit, Number(match[2] ?? 250) * 8, 'APP');
  return `+OK ${channel.uuid} received DTMF ${digits}.\n`;
});

/** `uuid_bridge <uuid> <other>`. */
export const uuidBridge: ApiCommand = (core, argument) => {
  const [first, second] = words(argument);
  if (first === undefined || second === undefined) return '-USAGE: <uuid> <other_uuid>\n';
  const channel = core.channels.get(first);
  const other = core.channels.get(second);
  if (channel === undefined || other === undefined || channel.ended || other.ended || channel === other) {
    return '-ERR Invalid uuid\n';
  }
  bridge(channel, other);
  return `+OK ${second}\n`;
};

/** `uuid_transfer <uuid> [-bleg|-both] <applications> inline`. */
export const uuidTransfer = onChannel((channel, rest) =>
  transferTo(channel, rest) ? OK : '-USAGE: <uuid> [-bleg|-both] <dest-exten> [<dialplan>] [<context>]\n',
);

/** `uuid_park <uuid>`. */
export const uuidPark = onChannel((channel) => {
  transfer([channel], parseInlineDialplan('park', 'inline'), 'park', 'inline');
  return OK;
});

/** `uuid_broadcast <uuid> <path or app::argument> [aleg|bleg|both]`. */
export const uuidBroadcast = onChannel((channel, [path = '', leg = 'aleg']) => {
  if (path === '') return '-USAGE: <uuid> <path> [aleg|bleg|holdb|both]\n';
  const [application, data] = path.includes('::') ? splitOnce(path, '::') : ['playback', path];
  const other = channel.otherLeg === undefined ? undefined : channel.core.channels.get(channel.otherLeg.uuid);
  if (leg !== 'bleg') channel.enqueue(application, data);
  if (leg === 'bleg' || leg === 'both') other?.enqueue(application, data);
  return '+OK Message sent\n';
}, '-ERR invalid uuid\n');

/** `sched_hangup [+]<seconds> <uuid> [cause]`. */
export const schedHangup: ApiCommand = (core, argument) => {
  const [seconds, uuid, cause = ''] = words(argument);
  if (seconds === undefined || uuid === undefined) return '-USAGE: [+]<time> <uuid> [<cause>]\n';
  const channel = core.channels.get(uuid);
  if (channel === undefined) return NO_CHANNEL;
  return scheduleHangup(channel, `${seconds} ${cause}`) ? '+OK\n' : '-USAGE: [+]<time> <uuid> [<cause>]\n';
};

/** `hupall [cause]`. */
export const hupall: ApiCommand = (core, argument) => {
  const cause = argument === '' ? 'MANAGER_REQUEST' : hangupCause(words(argument)[0] ?? '');
  for (const channel of core.channels.values()) channel.hangup(cause, 'api');
  return `+OK hangup all channels with cause ${cause}\n`;
};

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}
