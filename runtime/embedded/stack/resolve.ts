import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { SipTransportError } from './errors.ts';
import { type Destination, formatDestination, type TransportName } from './transport.ts';
import { parseUri, type SipUri } from './uri.ts';

/**
 * Where a request for this URI goes: `transport` parameter (default UDP), `maddr` or host, port (default 5060).
 * Names are looked up as addresses; SRV and NAPTR records (RFC 3263) are not asked for.
 * @throws SipTransportError `no-transport` for `sips` and transports that are not there.
 * @throws SipParseError when it is no URI.
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
 * The same destination with an IP address.
 * @throws SipTransportError `unresolved`.
 */
export async function resolveDestination(destination: Destination): Promise<Destination> {
  if (isNumeric(destination)) return destination;
  const { host } = destination;
  const unresolved = (why: string) => new SipTransportError('unresolved', formatDestination(destination), why);
  // Asked for it, the resolver gives no address, and no error either.
  if (host === '') throw unresolved('no host');
  try {
    const { address } = await lookup(host, { order: 'ipv4first' });
    return { ...destination, host: address };
  } catch (error) {
    throw unresolved(error instanceof Error ? error.message : String(error));
  }
}
