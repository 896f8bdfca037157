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

/** `ip:port` of each address of a SIP server for a transport, from its connect message. */
export function addressesOf(hostports: string | null | undefined, transport: SipTransport): readonly string[] {
  const all = hostports?.split(',').map((hostport) => hostport.trim()) ?? [];
  const prefix = `${transport}/`;
  return all.filter((hostport) => hostport.startsWith(prefix)).map((hostport) => hostport.slice(prefix.length));
}

/** The transports of phones' connections, as a REGISTER comes over them. */
export type SipTransport = 'udp' | 'tcp' | 'tls' | 'ws' | 'wss';

/**
 * The transport that a request came over. drachtio-server reports WebSockets as `tcp`, so the listening address decides,
 * and the Via among several of one address.
 * @param reported `req.protocol`
 * @param receivedOn `ip:port` of the listener, if it is known
 * @param via the topmost Via
 */
export function transportOf(
  reported: string,
  receivedOn: string | undefined,
  via: string,
  hostports: string,
): SipTransport {
  const named = /^SIP\s*\/\s*2\.0\s*\/\s*(\w+)/i.exec(via.trim())?.[1]?.toLowerCase() ?? '';
  if (reported !== 'tcp') return isSipTransport(reported) ? reported : 'udp';
  const listening = hostports
    .split(',')
    .map((hostport) => hostport.trim())
    .filter((hostport) => receivedOn !== undefined && hostport.endsWith(`/${receivedOn}`))
    .map((hostport) => hostport.slice(0, hostport.indexOf('/')))
    .filter((transport) => transport !== 'udp' && isSipTransport(transport));
  const transport = listening.length === 0 || listening.includes(named) ? named : listening[0];
  return transport === 'ws' || transport === 'wss' ? transport : 'tcp';
}

export function isSipTransport(name: string): name is SipTransport {
  return ['udp', 'tcp', 'tls', 'ws', 'wss'].includes(name);
}

/** Host and port of a SIP server's listener for WebSockets. */
export function webSocketOf(hostports: string, secure: boolean): { host: string; port: number } | undefined {
  const [found = ''] = addressesOf(hostports, secure ? 'wss' : 'ws');
  const [, host, port] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(found) ?? [];
  return host === undefined ? undefined : { host: bareHost(host), port: Number(port) };
}

function addressesHere(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => bareHost(address)) ?? []);
}
