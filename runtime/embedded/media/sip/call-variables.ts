/** Channel variables of a call. */
import {
  formatVia,
  parseNameAddr,
  parseUri,
  type ServerTransaction,
  type SipRequest,
  type SipUri,
} from '../../stack/index.ts';
import type { Channel } from '../channel/channel.ts';
import type { MediaCore } from '../core/media-core.ts';
import type { Dialog } from './dialog.ts';

/** The addresses of an INVITE. */
export interface Parties {
  readonly from: SipUri;
  readonly to: SipUri;
  readonly called: SipUri;
  readonly contact: SipUri | undefined;
}

/** @throws SipParseError when one cannot be read */
export function partiesOf(request: SipRequest): Parties {
  const [contact] = request.values('contact');
  return {
    from: parseUri(parseNameAddr(request.header('from') ?? '', 'From').uri),
    to: parseUri(parseNameAddr(request.header('to') ?? '', 'To').uri),
    called: parseUri(request.uri),
    contact: contact === undefined ? undefined : parseUri(parseNameAddr(contact, 'Contact').uri),
  };
}

/** The variables that a channel gets from its INVITE, in FreeSWITCH's order. */
export function callVariables(
  core: MediaCore,
  channel: Channel,
  { request, source }: ServerTransaction,
  parties: Parties,
): [string, string][] {
  const { host } = source.local;
  const via = request.topVia;
  const variables: [string, string | undefined][] = [
    ['direction', 'inbound'],
    ['uuid', channel.uuid],
    ['session_id', String(core.sessions.figures().sinceStart)],
    ...party('from', parties.from),
    ['video_media_flow', 'disabled'],
    ['text_media_flow', 'disabled'],
    ['channel_name', channel.profile.channelName],
    ['sip_local_network_addr', host],
    ['sip_network_ip', source.address],
    ['sip_network_port', String(source.port)],
    ['sip_invite_stamp', String(channel.times.created)],
    ['sip_received_ip', source.address],
    ['sip_received_port', String(source.port)],
    ['sip_via_protocol', source.transport],
    ['sofia_profile_name', core.profileName],
    ['sofia_profile_url', `sip:mod_sofia@${core.profileAddress}`],
    ['recovery_profile_name', core.profileName],
    ...party('req', parties.called),
    ...party('to', parties.to),
    ...(parties.contact === undefined ? [] : party('contact', parties.contact)),
    ['sip_user_agent', request.header('user-agent')],
    ['sip_via_host', via.host],
    ['sip_via_port', String(via.port ?? 5060)],
    ['sip_via_rport', via.params.get('rport')],
    ['max_forwards', request.header('max-forwards') ?? '70'],
    ...request.headers
      .filter((field) => field.key.startsWith('x-'))
      .map((field): [string, string] => [`sip_h_${field.name}`, field.value]),
    ['call_uuid', channel.uuid],
    ['sip_from_tag', request.fromTag],
    ['sip_call_id', request.callId],
    ['sip_full_via', formatVia(via)],
    ['sip_full_from', request.header('from')],
    ['sip_full_to', request.header('to')],
    ['endpoint_disposition', 'RECEIVED'],
  ];
  return variables.filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '');
}

/** The variables that the answer adds. */
export function answeredVariables(dialog: Dialog): [string, string][] {
  return [
    ['sip_to_tag', dialog.localTag],
    ['sip_cseq', String(dialog.remoteCSeq)],
    ['sip_full_to', dialog.local],
  ];
}

/** The variables that the dialplan of `freeswitch-config/` sets before it answers. */
export const DIALPLAN_VARIABLES: readonly (readonly [string, string])[] = [
  ['send_silence_when_idle', '-1'],
  ['hangup_after_bridge', 'false'],
  ['park_after_bridge', 'true'],
  ['playback_terminators', 'none'],
];

/** The variable by which a client knows that offers of faxes (T.38) are taken in a bridge. FreeSWITCH has none of this meaning. */
export const FAX_VARIABLE = ['fax_relay', 'true'] as const;

/** The variables of `X-Media-Timeout` (ms), as the dialplan sets them: the call of a silent far end is ended. */
export function timeoutVariables(request: SipRequest): [string, string][] {
  const limit = request.header('x-media-timeout')?.trim() ?? '';
  return /^\d{1,9}$/.test(limit) ? [['media_timeout_audio', limit]] : [];
}

/** The variable of `X-Secure-Media: NAME@keys`: whether the sound is encrypted, and how. */
export function secureVariables(request: SipRequest): [string, string][] {
  const wanted = /^\s*(?:offer-)?(\w+)@keys\s*$/.exec(request.header('x-secure-media') ?? '')?.[1] ?? '';
  if (wanted === 'dtls') return [dtlsVariable(request.header('x-dtls-offer')?.trim())];
  return /^(?:mandatory|optional|forbidden)$/.test(wanted) ? [['rtp_secure_media', wanted]] : [];
}

/** `X-Dtls-Offer` tells an offer for a phone, without ICE, from one for a browser, and from an answer. */
function dtlsVariable(offer: string | undefined): [string, string] {
  if (offer === 'mandatory') return ['rtp_secure_media', 'dtls'];
  return offer === 'optional' ? ['rtp_secure_media', 'dtls-optional'] : ['media_webrtc', 'true'];
}

function party(name: string, uri: SipUri): [string, string][] {
  const user = uri.user ?? 'nobody';
  const port = String(uri.port ?? 5060);
  return [
    [`sip_${name}_user`, user],
    [`sip_${name}_port`, port],
    [`sip_${name}_uri`, `${user}@${uri.host}:${port}`],
    [`sip_${name}_host`, uri.host],
  ];
}
