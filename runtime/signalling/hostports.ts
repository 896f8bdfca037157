/** Listening addresses of SIP servers. */
import { networkInterfaces } from 'node:os';

const LOOPBACK = ['127.0.0.1', '::1'];

/** Normalises an address or name for comparison: without the brackets of IPv6, lower case. */
export function bareHost(host: string): string {
  return host.replace(/^\[|\]$/g, '').toLowerCase();
}

/**
 * The hosts at which a SIP server listens, from its connect message: `udp/192.0.2.1:5060,tcp/[::1]:5060`. A server
 * listening at every address is assumed to run on this machine; one at the loopback address is also `localhost`.
 */
export function hostsOf(...hostports: readonly (string | null | undefined)[]): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const hostport of hostports.flatMap((list) => list?.split(',') ?? [])) {
    const [, host] = /^(?:\w+\/)?(\[[^\]]+\]|[^:/[\]]+)(?::\d+)?$/.exec(hostport.trim()) ?? [];
    if (host === undefined) continue;
    if (host === '0.0.0.0' || host === '[::]') for (const own of addressesHere()) hosts.add(own);
    else hosts.add(bareHost(host));
  }
  if (LOOPBACK.some((loopback) => hosts.has(loopback))) hosts.add('localhost');
  return hosts;
}

/** `ip:port` of each UDP address of a SIP server, from its connect message. */
export function udpAddressesOf(hostports: string | null | undefined): readonly string[] {
  const all = hostports?.split(',').map((hostport) => hostport.trim()) ?? [];
  return all.filter((hostport) => hostport.startsWith('udp/')).map((hostport) => hostport.slice('udp/'.length));
}

function addressesHere(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => bareHost(address)) ?? []);
}
