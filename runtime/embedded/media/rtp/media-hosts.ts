/** The addresses of sound: which one a call uses, and what its far end is told. */
import { isIP, isIPv6 } from 'node:net';
import { PRIVATE, scopeOf } from '../../../sip-facts/index.ts';
import { isLoopback, isWildcard, OwnAddresses } from '../../stack/index.ts';

/** What is known of where a far end is. */
export interface FarEnd {
  /** IP address that its SIP comes from, if the caller of the media server has said so. */
  readonly peer: string | undefined;
  /** Address in its session description, if there is one. */
  readonly media: string | undefined;
  /** Whether the sound needs the family of `media`: not with ICE, whose candidates may come later. */
  readonly bound: boolean;
}

/** The addresses of one call. */
export interface MediaHost {
  /** Address to bind to. */
  readonly host: string;
  /** Address for the session description. */
  readonly told: string;
}

const OF_IPV4 = '127.0.0.1';

/** Chooses addresses of sound for calls. */
export class MediaHosts {
  readonly #hosts: readonly string[];
  readonly #own: OwnAddresses;

  /** @param hosts addresses to bind to, at least one; `0.0.0.0` and `::` stand for all of their family */
  constructor(hosts: readonly string[], publicAddresses: readonly string[]) {
    this.#hosts = hosts;
    this.#own = new OwnAddresses(publicAddresses);
  }

  /** @returns undefined when the far end can only be reached by a family that this server does not have */
  choose({ peer, media, bound }: FarEnd): MediaHost | undefined {
    const described = media === undefined || isIP(media) === 0 || isWildcard(media) ? undefined : media;
    const family = familyOf(bound ? described : (peer ?? described)) ?? familyOf(peer);
    const far = placeOf(described, peer);
    const host = this.#hostFor(family, far) ?? (bound && described !== undefined ? undefined : this.#hosts[0]);
    return host === undefined ? undefined : { host, told: this.#own.towards(host, inFamilyOf(host, far)) };
  }

  #hostFor(family: 4 | 6 | undefined, far: string): string | undefined {
    if (family === undefined) return this.#hosts[0];
    const hosts = this.#hosts.filter((host) => familyOf(host) === family);
    const near = hosts.find((host) => !isWildcard(host) && isLoopback(host) === isLoopback(far));
    const found = near ?? hosts.find(isWildcard) ?? hosts[0];
    // Taps of the node itself are on IPv4.
    return found ?? (family === 4 && isLoopback(far) ? OF_IPV4 : undefined);
  }
}

/** Where the far end is. With an address on the Internet it is there, also when its SIP comes by a proxy nearby. */
function placeOf(described: string | undefined, peer: string | undefined): string {
  const isOutside = described !== undefined && scopeOf(described) > PRIVATE;
  return (isOutside ? described : (peer ?? described)) ?? '';
}

function familyOf(address: string | undefined): 4 | 6 | undefined {
  if (address === undefined || isIP(address) === 0) return undefined;
  return isIPv6(address) ? 6 : 4;
}

/** This machine is this machine in both families. */
function inFamilyOf(host: string, far: string): string {
  if (!isLoopback(far)) return far;
  return isIPv6(host) ? '::1' : OF_IPV4;
}
