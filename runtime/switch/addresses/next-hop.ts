import type { ContactBinding } from '../../domain/index.ts';
import { bareHost, parseSipUri } from '../../signalling/index.ts';
import { plainAddress } from '../../sip-facts/index.ts';

/**
 * Where to send a request for a contact; undefined: to the address in its URI. Over TCP, TLS and WebSockets, that is the
 * connection of its REGISTER (RFC 5626 section 5.3). Over UDP, it is the source of the REGISTER if the contact has another host, as behind
 * NAT (RFC 3581); another port on the same host is believed. Behind an edge proxy it is that proxy (RFC 3327).
 */
export function nextHopOf({
  contact,
  source,
  path = [],
}: Pick<ContactBinding, 'contact' | 'source' | 'path'>): string | undefined {
  const [edge] = path;
  if (edge !== undefined) return uriOfRoute(edge);
  const uri = parseSipUri(contact);
  const sameHost = uri !== undefined && isSameHost(uri.host, source.address);
  if (source.protocol === 'udp' && sameHost) return undefined;
  const host = source.address.includes(':') ? `[${bareHost(source.address)}]` : source.address;
  return `sip:${host}:${source.port};transport=${source.protocol}`;
}

function isSameHost(one: string, other: string): boolean {
  return plainAddress(bareHost(one)) === plainAddress(bareHost(other));
}

/** The URI of a value of Path or Route. */
export function uriOfRoute(value: string): string {
  return /<([^>]*)>/.exec(value)?.[1] ?? value.trim();
}

/**
 * Whether a request came from a contact: from the source of its REGISTER, or from the address in its URI. An edge proxy has
 * many phones at one address, so none of them is known by it.
 */
export function isFromContact(
  { contact, source, path = [] }: ContactBinding,
  from: { protocol: string; address: string; port: number },
): boolean {
  if (path.length > 0 || source.protocol !== from.protocol) return false;
  if (source.address === from.address && source.port === from.port) return true;
  const uri = parseSipUri(contact);
  return uri !== undefined && isSameHost(uri.host, from.address) && (uri.port ?? 5060) === from.port;
}
