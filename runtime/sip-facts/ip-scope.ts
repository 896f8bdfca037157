/** How far IP addresses are valid. */
import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net';

/** The scopes of {@link scopeOf}. */
export const PRIVATE = 2;
const INTERNET = 3;

/** Networks by scope. Everything else is the Internet. */
const SCOPES: readonly (readonly [BlockList, number])[] = (
  [
    [0, '127.0.0.0/8', '::1/128'],
    [1, '169.254.0.0/16', 'fe80::/10'],
    // RFC 1918, RFC 6598, RFC 4193.
    [PRIVATE, '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'],
  ] as const
).map(([scope, ...networks]) => [networkList(networks), scope]);

/** @param networks CIDR */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  return list;
}

export function isInNetworks(list: BlockList, address: string): boolean {
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** 0: this machine, 1: this link, 2: private networks ({@link PRIVATE}), 3: the Internet. Names count as the Internet. */
export function scopeOf(address: string): number {
  if (isIP(address) === 0) return INTERNET;
  return SCOPES.find(([list]) => isInNetworks(list, address))?.[1] ?? INTERNET;
}

/**
 * A name for everywhere that reaches this machine by the same of its addresses: one for each family, and there for the Internet, this
 * machine, and each /24 or /64 between.
 * @param address undefined, or a name, is anywhere on the Internet
 */
export function placeOf(address: string | undefined): string {
  if (address === undefined || isIP(address) === 0) return 'anywhere';
  const scope = scopeOf(address);
  const family = isIPv6(address) ? 'IPv6' : 'IPv4';
  return scope === 0 || scope === INTERNET ? `${family} ${scope}` : networkOf(address);
}

/** An IPv6 address as the system writes it, to compare it with others; IPv4 in IPv6 form as IPv4. Other text stays. */
export function plainAddress(address: string): string {
  if (!isIPv6(address)) return address;
  const { address: plain } = new SocketAddress({ address: address.split('%')[0], family: 'ipv6' });
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1] ?? plain;
}

/** The source that limits count: an IPv4 address, or the /64 of an IPv6 address, the network of one customer. */
export function sourceOfLimits(address: string): string {
  return isIPv6(address) ? networkOf(address) : address;
}

/** The /24 of an IPv4 address, the /64 of an IPv6 address. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address.slice(0, address.lastIndexOf('.'));
  const [head = '', tail] = plainAddress(address).split('::');
  const left = head.split(':').filter((word) => word !== '');
  const right = (tail ?? '').split(':').filter((word) => word !== '');
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}
