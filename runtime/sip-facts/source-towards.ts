/** The address that this machine has for a peer. */
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';

/** Any port: nothing is sent to it. */
const DISCARD = 9;

/** Whether an address stands for every interface. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** Skips the resolver, for which dgram would delay every datagram: addresses are numeric here. */
export function numericLookup(
  address: string,
  _options: unknown,
  callback: (error: NodeJS.ErrnoException | null, address: string, family: number) => void,
): void {
  callback(null, address, address.includes(':') ? 6 : 4);
}

/**
 * The local address from which the system sends to a peer: it asks the routing table and sends nothing.
 * @param peer IP address; a zone is allowed
 * @returns undefined without a route
 */
export function sourceTowards(peer: string): string | undefined {
  const family = isIPv6(peer) ? 'udp6' : 'udp4';
  const socket = createSocket({ type: family, lookup: numericLookup });
  let failed = false;
  socket.on('error', () => {
    failed = true;
  });
  try {
    // With addresses in place of names, both calls are done when they return.
    socket.bind({ address: family === 'udp6' ? '::' : '0.0.0.0', port: 0, exclusive: true });
    socket.connect(DISCARD, peer);
    const { address } = socket.address();
    return failed || isWildcard(address) ? undefined : address.replace(/%.*$/, '');
  } catch {
    return undefined; // the family is missing
  } finally {
    socket.close();
  }
}
