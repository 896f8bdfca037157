/** Local addresses of sockets: which one to use, and which one a peer reaches. */
import { type BlockList, isIP, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isInNetworks, isWildcard, networkList, scopeOf, sourceTowards } from '../../sip-facts/index.ts';
import type { ListeningPoint } from './transport.ts';

/** Destinations on the Internet, for peers whose address is unknown (RFC 5737, RFC 3849). */
const ELSEWHERE = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' } as const;

/** How long an answer is believed, ms: interfaces and routes change. */
const BELIEVED = 10_000;
const MOST_ANSWERS = 1024;

/** Whether the address is this machine's loopback. */
export function isLoopback(host: string): boolean {
  return host.startsWith('127.') || host === '::1';
}

/** The networks of this machine's interfaces, without the loopback. */
function ownNetworks(): BlockList {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return networkList(all.flatMap(({ internal, cidr }) => (internal || cidr === null ? [] : [cidr])));
}

/** The addresses that peers are told. */
export class OwnAddresses {
  readonly #public: readonly string[];
  readonly #answers = new Map<string, string>();
  #networks: BlockList = networkList([]);
  #since = Number.NEGATIVE_INFINITY;

  /** @param publicAddresses at most one a family, at which a NAT or load balancer passes packets on to this machine */
  constructor(publicAddresses: readonly string[] = []) {
    this.#public = publicAddresses;
  }

  /** The public addresses. */
  get all(): readonly string[] {
    return this.#public;
  }

  /**
   * The address under which a peer reaches a socket: the public one of the family for peers beyond this machine's own networks; else the
   * bound one or, for a socket bound to every address, the one that the system uses towards the peer.
   * @param bound address of the socket
   * @param peer IP address, or a name
   * @param actual local address of a connection with the peer
   */
  towards(bound: string, peer: string, actual?: string): string {
    const now = performance.now();
    if (now - this.#since > BELIEVED || this.#answers.size >= MOST_ANSWERS) {
      this.#answers.clear();
      this.#networks = ownNetworks();
      this.#since = now;
    }
    const key = `${bound} ${peer} ${actual ?? ''}`;
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const found = this.#publicTowards(bound, peer) ?? localTowards(bound, peer, actual);
    this.#answers.set(key, found);
    return found;
  }

  /** A private public address, as of a container's host, is for private peers too. */
  #publicTowards(bound: string, peer: string): string | undefined {
    const address = this.#public.find((one) => isIPv6(one) === isIPv6(bound));
    if (address === undefined || scopeOf(peer) < scopeOf(address)) return undefined;
    return isIP(peer) !== 0 && isInNetworks(this.#networks, peer) ? undefined : address;
  }
}

function localTowards(bound: string, peer: string, actual: string | undefined): string {
  if (!isWildcard(bound)) return bound;
  if (actual !== undefined) return actual;
  const ofV6 = isIPv6(bound);
  const target = isIP(peer) !== 0 && isIPv6(peer) === ofV6 ? peer : ELSEWHERE[ofV6 ? 'ipv6' : 'ipv4'];
  return sourceTowards(target) ?? (ofV6 ? '::1' : '127.0.0.1');
}

/** The listening point to use towards a peer: same address family, loopback for a loopback peer, else the first. */
export function choosePoint<T extends { readonly point: ListeningPoint }>(
  candidates: readonly T[],
  peer: string,
): T | undefined {
  // Of a name the family is unknown: IPv4 comes first, as when it is looked up.
  const ofV6 = isIP(peer) === 0 ? candidates.every(({ point }) => isIPv6(point.host)) : isIPv6(peer);
  const family = candidates.filter(({ point }) => isIPv6(point.host) === ofV6);
  const near = family.find(({ point }) => !isWildcard(point.host) && isLoopback(point.host) === isLoopback(peer));
  return near ?? family.find(({ point }) => isWildcard(point.host)) ?? family[0];
}
