/** The Contact of this platform. */
import { bracketUri } from './sip-uri.ts';

/** User part of it, without which drachtio-server inserts no address. */
const USER = 'ringmaster';

/**
 * The Contact towards a far end on TLS. It has the scheme of the call: a `sips` Contact is for calls with `sips` URIs (RFC 5630
 * section 5), and some phones send no request to it otherwise. The SIP server inserts its address. For all others its own
 * Contact is used.
 * @param protocol of the phone's connection
 * @param uri Request-URI of the INVITE
 */
export function ownContact(protocol: string, uri: string): Record<string, string> {
  if (protocol !== 'tls' && protocol !== 'wss') return {};
  const own = bracketUri(USER, 'localhost').replace('>', `;transport=${protocol}>`);
  return { Contact: /^sips:/i.test(uri) ? own.replace('<sip:', '<sips:') : own };
}

/**
 * The Contact in a provisional response, which creates a dialog too (RFC 3261 section 12.1.1): the SIP server gives it none of
 * its own, and SIP.js drops the response then.
 * @param protocol of the phone's connection
 * @param uri Request-URI of the INVITE
 */
export function earlyContact(protocol: string, uri: string): Record<string, string> {
  const secure = ownContact(protocol, uri);
  if (secure['Contact'] !== undefined) return secure;
  const own = bracketUri(USER, 'localhost');
  return { Contact: protocol === 'udp' ? own : own.replace('>', `;transport=${protocol}>`) };
}
