/** Builds headers and bodies of outgoing messages. */
import {
  canonicalName,
  formatHostPort,
  formatNameAddr,
  formatUri,
  headerRank,
  isSecure,
  type NameAddr,
  parseNameAddr,
  parseUri,
  type SipMessage,
  SipParseError,
  splitOutside,
  type TransportName,
} from '../stack/index.ts';

/** This server's address as a peer sees it, for Contact, From and Record-Route. */
export interface OwnAddress {
  readonly host: string;
  readonly port: number;
  readonly transport: TransportName;
}

/** `sip:host:port`, with the transport unless it is UDP; `sips:` over TLS, as observed at drachtio-server. */
export function ownUri(own: OwnAddress): string {
  const transport = own.transport === 'udp' ? '' : `;transport=${own.transport}`;
  return `${schemeOf(own)}:${formatHostPort(own.host, own.port)}${transport}`;
}

function schemeOf(own: OwnAddress): 'sip' | 'sips' {
  return isSecure(own.transport) ? 'sips' : 'sip';
}

/** Headers that the server writes itself; those of the application are ignored. */
const SERVER_HEADERS = new Set(['via', 'from', 'to', 'call-id', 'cseq', 'content-length']);

const CREDENTIALS = new Set([
  'authorization',
  'proxy-authorization',
  'www-authenticate',
  'proxy-authenticate',
  'authentication-info',
]);

/** Headers with one address, which the real server writes in angle brackets. */
const ADDRESSES = new Set(['refer-to', 'referred-by']);

/**
 * Copies the application's headers, known ones in their canonical spelling.
 * @param skip keys of headers to leave out, beside the server's own.
 */
export function copyHeaders(from: SipMessage, to: SipMessage, skip: readonly string[] = []): void {
  for (const { key, name, value } of from.headers) {
    if (SERVER_HEADERS.has(key) || skip.includes(key)) continue;
    to.add(canonicalName(key) ?? name, canonicalValue(key, value));
  }
}

function canonicalValue(key: string, value: string): string {
  if (CREDENTIALS.has(key)) return splitOutside(value, ',').join(', ');
  return ADDRESSES.has(key) ? inBrackets(value) : value;
}

/** Writes `sip:a@b` as `<sip:a@b>`. Other text stays as the application wrote it. */
function inBrackets(value: string): string {
  if (value.includes('<')) return value;
  try {
    return formatNameAddr(parseNameAddr(value, 'address'));
  } catch (error) {
    if (error instanceof SipParseError) return value;
    throw error;
  }
}

/** Whether a body begins like a session description. */
function isSdp(body: Buffer): boolean {
  return body.toString('latin1', 0, 3) === 'v=0';
}

/** Whether a body has no Content-Type and is no SDP either; such a body may not be sent (RFC 3261 section 20.15). */
export function lacksType(given: SipMessage): boolean {
  return given.body.length > 0 && !given.has('content-type') && !isSdp(given.body);
}

/** Sets the body, adds the Content-Type of an SDP that has none, and sorts the headers into canonical order. */
export function finish(message: SipMessage, body: Buffer): void {
  message.body = body;
  if (!message.has('content-type') && isSdp(body)) {
    message.add('Content-Type', 'application/sdp');
  }
  message.set('Content-Length', String(body.length));
  message.headers.sort((a, b) => headerRank(a.key) - headerRank(b.key));
}

/**
 * Replaces the host `localhost`, a placeholder of applications, by this server's own address.
 * @throws SipParseError when the value is no name-addr.
 */
export function withOwnHost(value: string, own: OwnAddress, field: string): NameAddr {
  const address = parseNameAddr(value, field);
  if (!address.uri.includes('localhost')) return address;
  const uri = parseUri(address.uri);
  if (uri.host !== 'localhost') return address;
  const params = new Map(uri.params);
  if (own.transport !== 'udp' && !params.has('transport')) params.set('transport', own.transport);
  return { ...address, uri: formatUri({ ...uri, host: own.host, port: own.port, params }) };
}

/** Writes this server's address anew in the headers that have it. */
export function replaceOwn(message: SipMessage, before: OwnAddress, now: OwnAddress): void {
  const [old, fresh] = [formatHostPort(before.host, before.port), formatHostPort(now.host, now.port)];
  if (old === fresh) return;
  for (const name of ['Contact', 'From']) {
    const value = message.header(name);
    if (value?.includes(old) === true) message.set(name, value.replaceAll(old, fresh));
  }
}

/** The value of Contact: the application's with `localhost` replaced, or else this server's own address. */
export function contactValue(given: string | undefined, own: OwnAddress): string {
  if (given === undefined) return `<${ownUri(own)}>`;
  if (!given.includes('localhost')) return given;
  return splitOutside(given, ',')
    .map((one) => formatNameAddr(withOwnHost(one, own, 'Contact')))
    .join(', ');
}
