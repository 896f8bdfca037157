/** The name of a gateway in states, events, histories and logs. */
import type { ProviderTransport } from './directory.ts';

/** `host:port`, beside UDP with the transport: `host:port;transport=tls`. @param host without the brackets of an IPv6 address */
export function gatewayName(at: { readonly host: string; readonly port: number; readonly transport: string }): string {
  const { host, port, transport } = at;
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return transport === 'udp' ? address : `${address};transport=${transport}`;
}

/** The port of a transport where none is given (RFC 3261 section 19.1.2). */
export function providerPort(transport: ProviderTransport): number {
  return transport === 'tls' || transport === 'sips' ? 5061 : 5060;
}
