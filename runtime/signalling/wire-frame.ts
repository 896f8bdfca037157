/** Reads what a SIP server reports about each message: frames of drachtio-server's app protocol. */
import { isIP, isIPv6 } from 'node:net';
import { isWildcard, sourceTowards } from '../sip-facts/index.ts';
import { bareHost } from './hostports.ts';
import { rawHeader } from './raw-header.ts';
import { parseSipUri } from './sip-uri.ts';

/** A SIP message as it was on the wire. */
export interface WireMessage {
  /** Milliseconds since the epoch, with fractions; by the clock of the SIP server, except for the hour. */
  readonly time: number;
  /** `udp`, `tcp`, `tls`, `ws` or `wss`. */
  readonly transport: string;
  /** `ip:port`, `[ip]:port` for IPv6; empty for the side that made a message without a wire. */
  readonly from: string;
  readonly to: string;
  /** This node sent it. */
  readonly isSent: boolean;
  /** `to` is where the request asks to be sent; the host may be a name, or behind NAT. */
  readonly isToGuessed: boolean;
  /** The SIP server made it up, and it was on no wire: an answer where nobody answered, a request that could not be sent. */
  readonly isLocal: boolean;
  readonly text: string;
}

/** The clock in frames has no date and an unknown time zone; all zones are whole quarters of an hour apart. */
const QUARTER_MS = 900_000;
/** A greater difference to the clock of this machine is no clock but a fault, ms. */
const MAX_SKEW_MS = 60_000;

/**
 * The message of a frame; undefined for a frame without one.
 * @param hostports listening addresses of the SIP server, `udp/192.0.2.1:5060,tcp/192.0.2.1:5060`
 * @param receivedAt milliseconds since the epoch
 */
export function readWireFrame(frame: string, hostports: string, receivedAt: number): WireMessage | undefined {
  const end = frame.indexOf('\r\n');
  if (end === -1) return undefined;
  const [, kind, ...rest] = frame.slice(0, end).split('|');
  const isResponse = kind === 'response';
  if (isResponse ? rest[1] !== 'OK' : kind !== 'sip') return undefined;
  const [source, size = '', protocol = '', address = '', port = '', clock = '', , , localHost, localPort] = isResponse
    ? rest.slice(2)
    : rest;
  if (source !== 'network' && source !== 'application') return undefined;
  const text = frame.slice(end + 2);
  const isLocal = size === '0' || protocol === 'unknown';
  const transport = isLocal ? 'udp' : transportOf(protocol, text);
  const isSent = source === 'application';
  const reported = hostPort(address, port);
  // A request that was sent over UDP is reported with the server's own address instead of the peer's.
  const isToGuessed = isSent && !isLocal && !text.startsWith('SIP/') && listeners(hostports).has(reported);
  const peer = isLocal ? '' : isToGuessed ? targetOf(text) : reported;
  // Only a request outside of dialogs names the address that it came to.
  const named = !isResponse && localHost !== undefined && localHost !== '' && localPort !== undefined;
  const listener = isToGuessed
    ? reported
    : named
      ? hostPort(localHost, localPort)
      : listenerOf(hostports, transport, address);
  const own = seenFrom(listener, isToGuessed ? peer.replace(/:\d+$/, '') : address);
  const time = timeOf(clock, receivedAt);
  const [from, to] = isSent ? [own, peer] : [peer, own];
  return { time, transport, from, to, isSent, isToGuessed, isLocal, text };
}

/** drachtio-server reports WebSockets as `tcp`. */
function transportOf(protocol: string, text: string): string {
  if (protocol !== '' && protocol !== 'tcp') return protocol;
  const named = viaTransport(text);
  return protocol === '' || named.startsWith('ws') ? named : protocol;
}

/** The protocol is missing for ACK, and for responses to other requests than INVITE. */
function viaTransport(text: string): string {
  return /^(?:via|v)\s*:\s*SIP\s*\/\s*2\.0\s*\/\s*(\w+)/im.exec(text)?.[1]?.toLowerCase() ?? 'udp';
}

/** Listeners of each server by its hostports; there are only a few servers. */
const known = new Map<string, ReadonlySet<string>>();

function listeners(hostports: string): ReadonlySet<string> {
  let all = known.get(hostports);
  if (all === undefined) {
    all = new Set(hostports.split(',').map((hostport) => hostport.trim().replace(/^\w+\//, '')));
    known.set(hostports, all);
  }
  return all;
}

/** Where a request goes: its first Route, else its Request-URI (RFC 3261 section 8.1.2). */
function targetOf(text: string): string {
  const uri = rawHeader(text, 'Route') ?? /^\S+ (\S+)/.exec(text)?.[1] ?? '';
  const { host = '', port, scheme } = parseSipUri(uri) ?? {};
  return host === '' ? '' : `${host}:${port ?? (scheme === 'sips' ? 5061 : 5060)}`;
}

/** The first listener of this transport, of the same address family if there is one. */
function listenerOf(hostports: string, transport: string, peer: string): string {
  const all = hostports.split(',').map((hostport) => hostport.trim());
  const same = all.filter((hostport) => hostport.startsWith(`${transport}/`));
  const isV6 = peer.includes(':');
  const fitting = same.find((hostport) => hostport.includes('[') === isV6) ?? same[0] ?? all[0] ?? '';
  return fitting.slice(fitting.indexOf('/') + 1);
}

/** How long an answer of the routing table is believed, ms. */
const BELIEVED_MS = 10_000;
const MOST_ANSWERS = 1000;
/** Addresses on the Internet, for peers that are names (RFC 5737, RFC 3849). */
const ELSEWHERE = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' };

const sources = new Map<string, string | undefined>();
let asked = 0;

/** The address of a listener; of one at every address the one that this machine has for the peer. */
function seenFrom(listener: string, peer: string): string {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(listener) ?? [];
  const bare = bareHost(host);
  if (!isWildcard(bare)) return listener;
  const isV6 = isIPv6(bare);
  const far = bareHost(peer);
  const target = isIP(far) !== 0 && isIPv6(far) === isV6 ? far : ELSEWHERE[isV6 ? 'ipv6' : 'ipv4'];
  const now = performance.now();
  if (now - asked > BELIEVED_MS || sources.size >= MOST_ANSWERS) sources.clear();
  if (!sources.has(target)) {
    if (sources.size === 0) asked = now;
    sources.set(target, sourceTowards(target));
  }
  const found = sources.get(target);
  return found === undefined ? listener : hostPort(found, port);
}

function hostPort(address: string, port: string): string {
  const host = address.includes(':') && !address.startsWith('[') ? `[${address}]` : address;
  return `${host}:${port}`;
}

/** The server's `hh:mm:ss.uuuuuu`, with the date of the frame's arrival. */
function timeOf(clock: string, receivedAt: number): number {
  const [, minutes, seconds] = /^\d\d:(\d\d):(\d\d\.\d+)$/.exec(clock) ?? [];
  if (minutes === undefined || seconds === undefined) return receivedAt;
  const told = (Number(minutes) * 60_000 + Number(seconds) * 1000) % QUARTER_MS;
  const behind = (receivedAt - told) % QUARTER_MS;
  const skew = behind > QUARTER_MS / 2 ? behind - QUARTER_MS : behind;
  return Math.abs(skew) > MAX_SKEW_MS ? receivedAt : receivedAt - skew;
}
