/** Destinations of SIP URIs. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { SipTransportError } from './errors.ts';
import { defaultPort, type Destination, formatDestination, isTransport, type TransportName } from './transport.ts';
import { parseHostPort, parseUri, type SipUri } from './uri.ts';

/** The transport of `sips` URIs by their parameter: encryption is implied (RFC 3261 section 26.2.2, RFC 7118). */
const SECURED: Readonly<Record<string, TransportName>> = { tcp: 'tls', tls: 'tls', ws: 'wss', wss: 'wss' };

/**
 * The destination of a request for this URI: `transport` parameter (default UDP, and TLS for `sips`), `maddr` or host,
 * port (default that of the transport). SRV and NAPTR records (RFC 3263) are not used.
 * @throws SipTransportError `no-transport` for unknown transports.
 * @throws SipParseError when the text is not a URI.
 */
export function destinationOf(uri: string | SipUri): Destination {
  const parsed = typeof uri === 'string' ? parseUri(uri) : uri;
  const text = typeof uri === 'string' ? uri : `${parsed.scheme}:${parsed.host}`;
  const isSips = parsed.scheme === 'sips';
  if (parsed.scheme !== 'sip' && !isSips)
    throw new SipTransportError('no-transport', text, `no transport for ${parsed.scheme} URIs`);
  const named = (parsed.params.get('transport') ?? (isSips ? 'tls' : 'udp')).toLowerCase();
  const transport = isSips ? SECURED[named] : named;
  if (transport === undefined || !isTransport(transport))
    throw new SipTransportError('no-transport', text, `no transport "${named}"`);
  const maddr = parsed.params.get('maddr');
  const host = maddr ? parseHostPort(maddr).host : parsed.host;
  return { transport, host, port: parsed.port ?? defaultPort(transport) };
}

/** Whether the destination needs no lookup. */
export function isNumeric(destination: Destination): boolean {
  return isIP(destination.host) !== 0;
}

/**
 * Looks up the host name of a destination.
 * @param usable whether there is a socket for an address; the first such address is taken, IPv4 before IPv6
 * @returns the destination with an IP address.
 * @throws SipTransportError `unresolved`.
 */
export async function resolveDestination(
  destination: Destination,
  usable: (address: string) => boolean = () => true,
): Promise<Destination> {
  if (isNumeric(destination)) return destination;
  const { host } = destination;
  const unresolved = (why: string) => new SipTransportError('unresolved', formatDestination(destination), why);
  // For an empty name the resolver returns neither an address nor an error.
  if (host === '') throw unresolved('no host');
  try {
    const found = (await lookup(host, { all: true, order: 'ipv4first' })).map(({ address }) => address);
    const address = found.find(usable) ?? found[0];
    if (address !== undefined) return { ...destination, host: address, name: host };
  } catch (error) {
    throw unresolved(error instanceof Error ? error.message : String(error));
  }
  throw unresolved('no address');
}
