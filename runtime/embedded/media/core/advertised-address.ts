/** The address in SDP and Contact. */
import { networkInterfaces } from 'node:os';

/** The used part of the system's interface list. */
export type Interfaces = Readonly<
  Record<
    string,
    readonly { readonly family: string; readonly internal: boolean; readonly address: string }[] | undefined
  >
>;

/**
 * The address for SDP and Contact: the bound one or, for 0.0.0.0, the first non-loopback IPv4 address, as FreeSWITCH
 * chooses its `local_ip_v4`.
 */
export function advertisedAddress(bound: string, interfaces: Interfaces = networkInterfaces()): string {
  if (bound !== '0.0.0.0') return bound;
  const addresses = Object.values(interfaces).flatMap((each) => each ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
