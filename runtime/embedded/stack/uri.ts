/** Parses and writes SIP URIs. */
import { isIPv6 } from 'node:net';
import { SipParseError } from './errors.ts';
import { decimal, formatParams, parseParams } from './scan.ts';

/** A SIP or SIPS URI (RFC 3261 section 19.1). For any other scheme `host` is empty and `opaque` holds the rest. */
export interface SipUri {
  readonly scheme: string;
  /** User part as written (escapes kept, password included). */
  readonly user: string | undefined;
  /** Host as written; an IPv6 address without its brackets. */
  readonly host: string;
  readonly port: number | undefined;
  readonly params: ReadonlyMap<string, string | undefined>;
  /** `?name=value&...` without the question mark. */
  readonly headers: string | undefined;
  /** The text after a scheme other than sip and sips (e.g. `tel:`). */
  readonly opaque: string | undefined;
}

const NO_PARAMS: ReadonlyMap<string, string | undefined> = new Map();

/**
 * Reads a URI.
 * @throws SipParseError when scheme or host is missing, or the port is not a number from 0 to 65535.
 */
export function parseUri(text: string): SipUri {
  const colon = text.indexOf(':');
  if (colon <= 0) throw new SipParseError('uri', text, 'scheme:...');
  const scheme = text.slice(0, colon).toLowerCase();
  if (scheme !== 'sip' && scheme !== 'sips') {
    return {
      scheme,
      user: undefined,
      host: '',
      port: undefined,
      params: NO_PARAMS,
      headers: undefined,
      opaque: text.slice(colon + 1),
    };
  }
  let rest = text.slice(colon + 1);
  let user: string | undefined;
  // The user part may hold ';', '?' and '/', so it ends at the '@' (RFC 3261 section 25.1, user-unreserved).
  const at = rest.indexOf('@');
  if (at >= 0) {
    user = rest.slice(0, at);
    rest = rest.slice(at + 1);
  }
  let headers: string | undefined;
  const question = rest.indexOf('?');
  if (question >= 0) {
    headers = rest.slice(question + 1);
    rest = rest.slice(0, question);
  }
  let params = NO_PARAMS;
  const semicolon = rest.indexOf(';');
  if (semicolon >= 0) {
    params = parseParams(rest.slice(semicolon));
    rest = rest.slice(0, semicolon);
  }
  const { host, port } = parseHostPort(rest, text);
  return { scheme, user, host, port, params, headers, opaque: undefined };
}

/**
 * Reads `host[:port]`, `[ipv6][:port]`.
 * @throws SipParseError when the host is empty or has invalid characters, is in brackets and no IPv6 address, or the port is not from 0 to 65535.
 */
export function parseHostPort(text: string, context = text): { host: string; port: number | undefined } {
  let host: string;
  let portText: string | undefined;
  if (text.startsWith('[')) {
    const close = text.indexOf(']');
    if (close < 0) throw new SipParseError('host', context, 'a closing bracket');
    host = text.slice(1, close);
    // Zones (RFC 4007) have no place in a URI: they mean something on one machine only.
    if (!isIPv6(host) || host.includes('%')) throw new SipParseError('host', context, 'an IPv6 address without zone');
    const rest = text.slice(close + 1).trim();
    if (rest.startsWith(':')) portText = rest.slice(1).trim();
    else if (rest !== '') throw new SipParseError('host', context, '[ipv6]:port');
  } else {
    const colon = text.indexOf(':');
    host = (colon < 0 ? text : text.slice(0, colon)).trim();
    if (colon >= 0) portText = text.slice(colon + 1).trim();
  }
  if (!text.startsWith('[') && !isHost(host)) throw new SipParseError('host', context, 'a host name or address');
  if (portText === undefined) return { host, port: undefined };
  const port = decimal(portText, 65535);
  if (port === undefined) throw new SipParseError('port', context, 'a number from 0 to 65535');
  return { host, port };
}

/** Whether a socket can send to this port. URIs may have port 0 (RFC 3261 section 25.1), for which sockets throw. */
export function isPort(port: number): boolean {
  return port > 0 && port < 65_536;
}

function isHost(host: string): boolean {
  if (host.length === 0 || host.length > 255) return false;
  for (let i = 0; i < host.length; i += 1) {
    const c = host.charCodeAt(i);
    const fine =
      (c >= 48 && c <= 57) ||
      (c >= 65 && c <= 90) ||
      (c >= 97 && c <= 122) ||
      c === 45 ||
      c === 46 ||
      c === 95 ||
      c === 37;
    if (!fine) return false;
  }
  return true;
}

/** The host as written in a URI or Via: an IPv6 address gets brackets. */
export function formatHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** An address without its zone (`fe80::1%eth0`), which means something on this machine only. */
export function withoutZone(address: string): string {
  const percent = address.indexOf('%');
  return percent < 0 ? address : address.slice(0, percent);
}

/** An address without the brackets that a parameter may have around IPv6 (RFC 5118 section 4.5). */
export function bareAddress(text: string): string {
  return text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
}

/** `host:port`, with brackets around IPv6. */
export function formatHostPort(host: string, port: number): string {
  return `${formatHost(host)}:${port}`;
}

/** The text of a URI; `parseUri(formatUri(u))` equals `u`. */
export function formatUri(uri: SipUri): string {
  if (uri.opaque !== undefined) return `${uri.scheme}:${uri.opaque}`;
  const user = uri.user === undefined ? '' : `${uri.user}@`;
  const port = uri.port === undefined ? '' : `:${uri.port}`;
  const headers = uri.headers === undefined ? '' : `?${uri.headers}`;
  return `${uri.scheme}:${user}${formatHost(uri.host)}${port}${formatParams(uri.params)}${headers}`;
}
