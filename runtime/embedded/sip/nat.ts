/** Finds the address of a peer behind NAT. */
import { PRIVATE, scopeOf } from '../../sip-facts/index.ts';
import { type Destination, parseNameAddr, parseUri, SipParseError, type SipMessage } from '../stack/index.ts';

/** Whether an address is of a private network (RFC 1918, RFC 6598, RFC 4193). */
function isPrivate(host: string): boolean {
  return scopeOf(host) === PRIVATE;
}

/**
 * The destination that replaces the peer's Contact for requests of a dialog, or undefined:
 * - the peer's connection (RFC 3261 section 18: connections are reused);
 * - the source of its packets, when its Contact is a private address and the source is a public one.
 *
 * Only for peers without a proxy in between (no Record-Route, one Via).
 */
export function behindNat(message: SipMessage, target: string | undefined): Destination | undefined {
  const { source } = message;
  if (source === undefined || message.has('record-route')) return undefined;
  const flow: Destination = { transport: source.transport, host: source.address, port: source.port };
  if (message.values('via').length > 1) return undefined;
  if (source.transport !== 'udp') return flow;
  if (target === undefined) return undefined;
  try {
    const { host } = parseUri(parseNameAddr(target, 'Contact').uri);
    return isPrivate(host) && host !== source.address && !isPrivate(source.address) ? flow : undefined;
  } catch (error) {
    if (error instanceof SipParseError) return undefined;
    throw error;
  }
}
