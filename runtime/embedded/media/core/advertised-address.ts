import { networkInterfaces } from 'node:os';

/** The part of the system's interface list that is looked at. */
export type Interfaces = Readonly<
  Record<
    string,
    readonly { readonly family: string; readonly internal: boolean; readonly address: string }[] | undefined
  >
>;

/**
 * The address to be put into SDP and Contact: the one bound, or, when all are (0.0.0.0), the first IPv4 address that
 * other machines reach, as FreeSWITCH chooses its `local_ip_v4`.
 */
export function advertisedAddress(bound: string, interfaces: Interfaces = networkInterfaces()): string {
  if (bound !== '0.0.0.0') return bound;
  const addresses = Object.values(interfaces).flatMap((each) => each ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
