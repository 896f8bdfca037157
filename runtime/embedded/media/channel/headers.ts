/** Event headers of a channel. */
import type { EventHeaders } from '../esl/event.ts';
import { CHANNEL_PREFIX, EVENT_PREFIX, OTHER_LEG_PREFIX, profileHeaders } from './profile.ts';
import type { ShownChannel } from './shown.ts';
import { CHANNEL_STATES } from './state.ts';

/** The headers of every event of a channel, without variables. */
export function channelHeaders(channel: ShownChannel): EventHeaders {
  const { rtp, hangupCause, otherLeg, readsLinear } = channel;
  const { name, rate, bitRate } = rtp.codec;
  const number = channel.ended && channel.callState !== 'HANGUP' ? CHANNEL_STATES.CS_HANGUP : channel.stateNumber;
  const headers: EventHeaders = {
    'Channel-State': channel.state,
    'Channel-Call-State': channel.callState,
    'Channel-State-Number': String(number),
    'Channel-Name': channel.profile.channelName,
    'Unique-ID': channel.uuid,
    'Call-Direction': 'inbound',
    'Presence-Call-Direction': 'inbound',
    'Channel-HIT-Dialplan': 'true',
    'Channel-Call-UUID': channel.get('call_uuid') ?? channel.uuid,
    'Answer-State': answerState(channel),
  };
  if (hangupCause !== undefined) headers['Hangup-Cause'] = hangupCause;
  headers['Channel-Read-Codec-Name'] = readsLinear ? 'L16' : name;
  headers['Channel-Read-Codec-Rate'] = String(rate);
  headers['Channel-Read-Codec-Bit-Rate'] = String(readsLinear ? rate * 16 : bitRate);
  headers['Channel-Write-Codec-Name'] = name;
  headers['Channel-Write-Codec-Rate'] = String(rate);
  headers['Channel-Write-Codec-Bit-Rate'] = String(bitRate);
  profileHeaders(headers, EVENT_PREFIX, channel.profile, channel.leg);
  if (otherLeg !== undefined) {
    headers['Other-Type'] = otherLeg.type;
    profileHeaders(headers, OTHER_LEG_PREFIX, otherLeg.profile, otherLeg.leg);
  }
  return headers;
}

function answerState(channel: ShownChannel): string {
  if (channel.ended) return 'hangup';
  if (channel.times.answered > 0) return 'answered';
  return channel.callState === 'EARLY' ? 'early' : 'ringing';
}

const VARIABLE = 'variable_';

/**
 * Adds the variables as `variable_<name>` headers.
 *
 * @param names the headers to add; undefined for all
 */
export function addVariables(channel: ShownChannel, headers: EventHeaders, names?: readonly string[]): EventHeaders {
  if (names === undefined) {
    for (const [name, value] of channel.variables) headers[VARIABLE + name] = value;
    return headers;
  }
  for (const header of names) {
    const value = header.startsWith(VARIABLE) ? channel.variables.get(header.slice(VARIABLE.length)) : undefined;
    if (value !== undefined) headers[header] = value;
  }
  return headers;
}

const REPLY = {
  'Content-Type': 'command/reply',
  'Reply-Text': '+OK\n',
  'Socket-Mode': 'async',
  Control: 'full',
} as const;

/** The values of `uuid_dump`. */
export function dumpHeaders(channel: ShownChannel): EventHeaders {
  const headers: EventHeaders = channel.core.identity.eventHeaders('CHANNEL_DATA');
  return addVariables(channel, Object.assign(headers, channelHeaders(channel)));
}

/** The header of an INVITE whose controller needs little: `brief`. FreeSWITCH makes it a variable without meaning. */
const WISH = 'sip_h_X-Channel-Data';
/** The variables that drachtio-fsmrf reads of the answer to `connect`, the codecs of the channel, and whether it passes faxes on. */
const BRIEF = [
  'sip_user_agent',
  'sip_call_id',
  'switch_r_sdp',
  'rtp_local_sdp_str',
  'local_media_ip',
  'local_media_port',
  'remote_media_ip',
  'remote_media_port',
  'dtmf_type',
  'rtp_use_codec_string',
  'fax_relay',
];

/** The values of the answer to `connect`: all of the channel, and the profile under both prefixes; or what a brief one has. */
export function dataHeaders(channel: ShownChannel): EventHeaders {
  if (channel.get(WISH) === 'brief') return briefHeaders(channel);
  const headers: EventHeaders = channel.core.identity.eventHeaders('CHANNEL_DATA');
  profileHeaders(headers, CHANNEL_PREFIX, channel.profile, channel.leg);
  addVariables(channel, Object.assign(headers, channelHeaders(channel)));
  return Object.assign(headers, REPLY);
}

function briefHeaders(channel: ShownChannel): EventHeaders {
  const { uuid, variables } = channel;
  const headers: EventHeaders = { 'Event-Name': 'CHANNEL_DATA', 'Channel-Unique-ID': uuid, 'Unique-ID': uuid };
  for (const name of BRIEF) {
    const value = variables.get(name);
    if (value !== undefined) headers[`variable_${name}`] = value;
  }
  return Object.assign(headers, REPLY);
}
