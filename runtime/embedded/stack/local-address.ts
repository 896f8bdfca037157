/** Chooses local addresses. */
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { ListeningPoint } from './transport.ts';

/** Whether the address stands for every interface. */
function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** Whether the address is this machine's loopback. */
export function isLoopback(host: string): boolean {
  return host.startsWith('127.') || host === '::1';
}

/**
 * The address under which a peer reaches a listening point. For a wildcard listener this is the loopback address for a
 * loopback peer, and else the first address of a non-loopback interface.
 */
export function reachableHost(point: ListeningPoint, peer: string): string {
  if (!isWildcard(point.host)) return point.host;
  if (isLoopback(peer)) return isIPv6(peer) ? '::1' : '127.0.0.1';
  const family = point.host === '::' ? 'IPv6' : 'IPv4';
  for (const addresses of Object.values(networkInterfaces())) {
    for (const address of addresses ?? []) if (!address.internal && address.family === family) return address.address;
  }
  return family === 'IPv6' ? '::1' : '127.0.0.1';
}

/** The listening point to use towards a peer: same address family, loopback for a loopback peer, else the first. */
export function choosePoint<T extends { readonly point: ListeningPoint }>(
  candidates: readonly T[],
  peer: string,
): T | undefined {
  const wanted = peer.includes(':');
  const family = candidates.filter((candidate) => candidate.point.host.includes(':') === wanted);
  const near = family.find(({ point }) => !isWildcard(point.host) && isLoopback(point.host) === isLoopback(peer));
  return near ?? family.find(({ point }) => isWildcard(point.host)) ?? family[0];
}
