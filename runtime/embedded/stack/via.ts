/** Parses and completes Via. */
import { SipParseError } from './errors.ts';
import { formatParams, indexOutside, parseParams } from './scan.ts';
import { formatHost, parseHostPort, withoutZone } from './uri.ts';

/** One Via value (RFC 3261 section 20.42). */
export interface Via {
  /** `UDP`, `TCP`, `TLS`, `WS` ... in upper case. */
  readonly transport: string;
  /** sent-by host, IPv6 without brackets. */
  readonly host: string;
  /** sent-by port, if written. */
  readonly port: number | undefined;
  readonly params: Map<string, string | undefined>;
}

/** The magic cookie that marks a branch as unique per transaction (RFC 3261 section 8.1.1.7). */
export const MAGIC_COOKIE = 'z9hG4bK';

/**
 * Reads the first value of a Via header.
 * @throws SipParseError when it is not `SIP/2.0/transport host[:port][;params]`.
 */
export function parseVia(text: string): Via {
  // Blanks are allowed around the slashes: "SIP / 2.0 / UDP host" (RFC 4475 section 3.1.1.1).
  const firstSlash = text.indexOf('/');
  const secondSlash = firstSlash < 0 ? -1 : text.indexOf('/', firstSlash + 1);
  if (secondSlash < 0) throw new SipParseError('Via', text, 'SIP/2.0/transport host');
  const protocol = text.slice(0, firstSlash).trim().toUpperCase();
  const version = text.slice(firstSlash + 1, secondSlash).trim();
  if (protocol !== 'SIP' || version !== '2.0') throw new SipParseError('Via', text, 'SIP/2.0/transport');
  let at = secondSlash + 1;
  while (isBlank(text, at)) at += 1;
  let end = at;
  while (end < text.length && !isBlank(text, end)) end += 1;
  const transport = text.slice(at, end).toUpperCase();
  if (transport === '' || end >= text.length) throw new SipParseError('Via', text, 'a transport and a host');
  const semicolon = text.indexOf(';', end);
  const sentBy = (semicolon < 0 ? text.slice(end) : text.slice(end, semicolon)).trim();
  const { host, port } = parseHostPort(sentBy, text);
  return { transport, host, port, params: semicolon < 0 ? new Map() : parseParams(text.slice(semicolon)) };
}

function isBlank(text: string, at: number): boolean {
  const c = text.charCodeAt(at);
  return c === 32 || c === 9 || c === 13 || c === 10;
}

/** The text of a Via value. */
export function formatVia(via: Via): string {
  const port = via.port === undefined ? '' : `:${via.port}`;
  return `SIP/2.0/${via.transport} ${formatHost(via.host)}${port}${formatParams(via.params)}`;
}

/**
 * Completes the Via of a received request with `rport` and `received` from the packet's source (RFC 3581 section 4, RFC
 * 3261 section 18.2.1). Like drachtio-server it adds `rport` even if the client did not ask for it.
 * @param value the whole header value; further Via values after a comma are kept.
 */
export function completeVia(value: string, via: Via, sourceAddress: string, sourcePort: number): string {
  const comma = indexOutside(value, ',');
  let first = (comma < 0 ? value : value.slice(0, comma)).trim();
  const rest = comma < 0 ? '' : value.slice(comma);
  const rport = via.params.get('rport');
  if (!via.params.has('rport')) first += `;rport=${sourcePort}`;
  else if (rport === undefined || rport === '')
    first = first.replace(/;\s*rport\s*=?\s*(?=;|$)/i, `;rport=${sourcePort}`);
  else if (rport !== String(sourcePort)) first = first.replace(/;\s*rport\s*=[^;]*/i, `;rport=${sourcePort}`);
  if (via.params.has('received')) first = first.replace(/;\s*received\s*(=[^;]*)?(?=;|$)/gi, '');
  if (via.host !== sourceAddress) first += `;received=${withoutZone(sourceAddress)}`;
  via.params.set('rport', String(sourcePort));
  return first + rest;
}
