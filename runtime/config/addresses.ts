/** Addresses of this machine in settings. */
import { isIP, isIPv6 } from 'node:net';
import { ConfigError } from './errors.ts';

/** Every address of a family. */
const WILDCARDS: Readonly<Record<4 | 6, string>> = { 4: '0.0.0.0', 6: '::' };

const IPV4_IN_IPV6 = /^::ffff:\d+\./i;

/** True for an address that only this machine can reach. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || address.startsWith('127.');
}

/**
 * Reads the addresses to listen on, separated by commas. `::` stands for all addresses, IPv4 and IPv6; it becomes `0.0.0.0` and `::`,
 * each of which is for its own family.
 * @throws ConfigError
 */
export function listeningHosts(name: string, value: string): string[] {
  const hosts = new Set<string>();
  for (const entry of listOf(value)) {
    const host = addressOf(
      name,
      entry,
      'IP addresses of this machine such as 127.0.0.1, ::1, 0.0.0.0 (all of IPv4), :: (all)',
    );
    if (host === WILDCARDS[6]) hosts.add(WILDCARDS[4]);
    hosts.add(host);
  }
  const [first, ...others] = hosts;
  if (first === undefined) throw new ConfigError(name, value, 'at least one IP address, e.g. 127.0.0.1');
  for (const host of [first, ...others]) {
    const all = WILDCARDS[isIPv6(host) ? 6 : 4];
    if (host !== all && hosts.has(all))
      throw new ConfigError(name, value, `either ${all}, which includes ${host}, or single addresses`);
  }
  return [first, ...others];
}

/**
 * Reads the public addresses, separated by commas: at most one of IPv4 and one of IPv6.
 * @throws ConfigError
 */
export function publicAddressesOf(name: string, value: string): string[] {
  const expected = 'an IP address, or one of IPv4 and one of IPv6, e.g. 203.0.113.7,2001:db8::7';
  const addresses = listOf(value).map((entry) => addressOf(name, entry, expected));
  for (const address of addresses)
    if (Object.values(WILDCARDS).includes(address))
      throw new ConfigError(name, address, `${expected}; ${address} names no machine`);
  if (addresses.filter((address) => isIPv6(address)).length > 1 || addresses.filter((one) => !isIPv6(one)).length > 1)
    throw new ConfigError(name, value, expected);
  return addresses;
}

/** One address, with or without the brackets of IPv6. */
function addressOf(name: string, entry: string, expected: string): string {
  const address = (/^\[(.*)\]$/.exec(entry)?.[1] ?? entry).toLowerCase();
  if (address === 'localhost') return '127.0.0.1';
  // A link-local address needs a zone, which means something on one machine only.
  if (address.includes('%') || (isIPv6(address) && /^fe[89ab]/.test(address)))
    throw new ConfigError(name, entry, `${expected}; link-local addresses and zones cannot be used`);
  const first = Number(address.split('.')[0]);
  const isMulticast = isIPv6(address) ? address.startsWith('ff') : first >= 224;
  if (isIP(address) === 0 || isMulticast) throw new ConfigError(name, entry, expected);
  return address;
}

/** Refuses IPv4 addresses in IPv6 form, which SIP cannot tell others. @throws ConfigError */
export function withoutMapped(name: string, hosts: readonly string[]): readonly string[] {
  const mapped = hosts.find((host) => IPV4_IN_IPV6.test(host));
  if (mapped !== undefined)
    throw new ConfigError(name, mapped, `the IPv4 address itself, ${mapped.slice('::ffff:'.length)}`);
  return hosts;
}

function listOf(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
