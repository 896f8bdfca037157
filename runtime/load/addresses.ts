/** Which addresses a load may use. */
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { LoadError } from './errors.ts';

/** Whether an IP address is this machine's loopback. */
export function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}

/**
 * Looks up a host.
 * @param field where the host was given, for the error
 * @returns its first IPv4 address, else its first address
 * @throws LoadError for an unknown host, and unless `allowNetwork` for one with an address other than loopback
 */
export async function resolveHost(host: string, field: string, allowNetwork: boolean): Promise<string> {
  const found = await lookup(host.replace(/^\[(.*)\]$/, '$1'), { all: true, order: 'ipv4first' }).catch(() => []);
  const [first] = found;
  if (first === undefined) throw new LoadError(`${field}: the host "${host}" has no address`);
  const outside = found.find(({ address }) => !isLoopback(address));
  if (!allowNetwork && outside !== undefined) {
    throw new LoadError(
      `${field}: "${host}" is not on loopback (${outside.address}); a load can disturb a network, so this needs --allow-network`,
    );
  }
  return first.address;
}

/** The address of this machine from which packets to `host` leave. @param host an IP address */
export async function localAddressFor(host: string): Promise<string> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  try {
    // Sends nothing: the system only chooses a route.
    socket.connect(9, host);
    await once(socket, 'connect');
    return socket.address().address;
  } finally {
    socket.close();
  }
}
