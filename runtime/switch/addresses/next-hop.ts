import type { ContactBinding } from '../../domain/index.ts';
import { bareHost, parseSipUri } from '../../signalling/index.ts';

/**
 * Where to send a request for a contact, when not to the address that its URI names: over TCP to the connection that the
 * phone registered over (RFC 5626 section 5.3), and over UDP to where its REGISTER came from if the phone does not know
 * its own address, which is how NAT shows (RFC 3581). A phone that names another port of its own address is believed.
 */
export function nextHopOf({ contact, source }: ContactBinding): string | undefined {
  const uri = parseSipUri(contact);
  const sameHost = uri !== undefined && bareHost(uri.host) === bareHost(source.address);
  if (source.protocol === 'udp' && sameHost) return undefined;
  const host = source.address.includes(':') ? `[${bareHost(source.address)}]` : source.address;
  return `sip:${host}:${source.port};transport=${source.protocol}`;
}

/** True when a request came from the very address of a contact: the one it registered from, or the one it named. */
export function isFromContact(
  { contact, source }: ContactBinding,
  from: { protocol: string; address: string; port: number },
): boolean {
  if (source.protocol !== from.protocol) return false;
  if (source.address === from.address && source.port === from.port) return true;
  const uri = parseSipUri(contact);
  return uri !== undefined && bareHost(uri.host) === bareHost(from.address) && (uri.port ?? 5060) === from.port;
}
