/** Destinations of SIP URIs. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { SipTransportError } from './errors.ts';
import { type Destination, formatDestination, type TransportName } from './transport.ts';
import { parseUri, type SipUri } from './uri.ts';

/**
 * The destination of a request for this URI: `transport` parameter (default UDP), `maddr` or host, port (default 5060).
 * SRV and NAPTR records (RFC 3263) are not used.
 * @throws SipTransportError `no-transport` for `sips` and unknown transports.
 * @throws SipParseError when the text is not a URI.
 */
export function destinationOf(uri: string | SipUri): Destination {
  const parsed = typeof uri === 'string' ? parseUri(uri) : uri;
  const text = typeof uri === 'string' ? uri : `${parsed.scheme}:${parsed.host}`;
  if (parsed.scheme !== 'sip')
    throw new SipTransportError('no-transport', text, `no transport for ${parsed.scheme} URIs`);
  const transport = (parsed.params.get('transport') ?? 'udp').toLowerCase();
  if (!isTransport(transport)) throw new SipTransportError('no-transport', text, `no transport "${transport}"`);
  const host = parsed.params.get('maddr') || parsed.host;
  return { transport, host, port: parsed.port ?? 5060 };
}

function isTransport(name: string): name is TransportName {
  return name === 'udp' || name === 'tcp';
}

/** Whether the destination needs no lookup. */
export function isNumeric(destination: Destination): boolean {
  return isIP(destination.host) !== 0;
}

/**
 * Looks up the host name of a destination.
 * @returns the destination with an IP address.
 * @throws SipTransportError `unresolved`.
 */
export async function resolveDestination(destination: Destination): Promise<Destination> {
  if (isNumeric(destination)) return destination;
  const { host } = destination;
  const unresolved = (why: string) => new SipTransportError('unresolved', formatDestination(destination), why);
  // For an empty name the resolver returns neither an address nor an error.
  if (host === '') throw unresolved('no host');
  try {
    const { address } = await lookup(host, { order: 'ipv4first' });
    return { ...destination, host: address };
  } catch (error) {
    throw unresolved(error instanceof Error ? error.message : String(error));
  }
}
