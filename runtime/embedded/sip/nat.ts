import { isIP } from 'node:net';
import { type Destination, parseNameAddr, parseUri, SipParseError, type SipMessage } from '../stack/index.ts';

/** Whether an IPv4 address is of a private network (RFC 1918, RFC 6598). */
function isPrivate(host: string): boolean {
  const [a = 0, b = 0] = host.split('.').map(Number);
  return (
    a === 10 || (a === 172 && b >= 16 && b <= 31) || (a === 192 && b === 168) || (a === 100 && b >= 64 && b <= 127)
  );
}

/**
 * Where requests of a dialog must go instead of to the peer's Contact, or `undefined`:
 * - to its TCP connection (RFC 3261 section 18: connections are reused);
 * - to the address its packets come from, when its Contact is a private address and the packets are not.
 *
 * Only for peers without a proxy between (no Record-Route).
 */
export function behindNat(message: SipMessage, target: string | undefined): Destination | undefined {
  const { source } = message;
  if (source === undefined || message.has('record-route')) return undefined;
  const flow: Destination = { transport: source.transport, host: source.address, port: source.port };
  if (message.values('via').length > 1) return undefined;
  if (source.transport === 'tcp') return flow;
  if (target === undefined) return undefined;
  try {
    const { host } = parseUri(parseNameAddr(target, 'Contact').uri);
    return isIP(host) === 4 && isPrivate(host) && host !== source.address && !isPrivate(source.address)
      ? flow
      : undefined;
  } catch (error) {
    if (error instanceof SipParseError) return undefined;
    throw error;
  }
}
