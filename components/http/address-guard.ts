/** Decides which addresses and hosts scenarios and webhooks may reach. */
import { BlockList, isIP } from 'node:net';

/** Addresses of the node's own network (IANA special-purpose registries, RFC 6890). */
const SPECIAL: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'],
  ['::', 128, 'ipv6'],
  ['::1', 128, 'ipv6'],
  // These embed an IPv4 address that the checks above miss; BlockList finds the one in ::ffff:a.b.c.d.
  ['::', 96, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['2001::', 23, 'ipv6'],
  ['100::', 64, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];

/** An invalid entry of an allow list. */
export class AllowListError extends Error {
  override readonly name = 'AllowListError';
  readonly found: string;
  constructor(found: string, what: string) {
    super(`"${found}" is no ${what}`);
    this.found = found;
  }
}

/** Decides whether requests may reach an address. */
export class AddressGuard {
  readonly #special = new BlockList();
  readonly #allowed = new BlockList();

  /**
   * @param allowed special addresses and networks (`10.1.0.0/16`) that may be reached
   * @throws AllowListError
   */
  constructor(allowed: readonly string[] = []) {
    for (const [network, prefix, family] of SPECIAL) this.#special.addSubnet(network, prefix, family);
    for (const entry of allowed) this.#allow(entry);
  }

  mayReach(address: string): boolean {
    const family = isIP(address);
    if (family === 0) return false;
    const type = family === 4 ? 'ipv4' : 'ipv6';
    return !this.#special.check(address, type) || this.#allowed.check(address, type);
  }

  /** True when the operator has allowed the address by name or network. */
  isListed(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#allowed.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }

  #allow(entry: string): void {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address);
    const longest = family === 4 ? 32 : 128;
    const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Infinity;
    if (family === 0 || bits > longest) throw new AllowListError(entry, 'address or network, e.g. 10.1.0.0/16');
    this.#allowed.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  }
}

/** Decides whether scripts may send requests to a host, by its name. */
export class HostGuard {
  readonly #exact = new Set<string>();
  readonly #suffixes: string[] = [];

  /**
   * @param allowed names (`api.example.com`), all names below one (`*.example.com`), or `*` for any
   * @throws AllowListError
   */
  constructor(allowed: readonly string[]) {
    for (const entry of allowed) {
      const name = entry.toLowerCase();
      if (name === '*') this.#suffixes.push('');
      else if (/^\*\.[a-z0-9.-]+$/.test(name)) this.#suffixes.push(name.slice(1));
      else if (/^[a-z0-9.:[\]_-]+$/.test(name)) this.#exact.add(name);
      else throw new AllowListError(entry, 'host name, e.g. api.example.com or *.example.com');
    }
  }

  mayAsk(hostname: string): boolean {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    return this.#exact.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix) && name !== suffix);
  }
}
