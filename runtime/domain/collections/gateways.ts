/** The field `gateways` of providers: several addresses that calls go to in turn. */
import { isIPv6 } from 'node:net';
import { type Static, Type } from 'typebox';
import { InvalidFieldError } from '../errors.ts';
import { gatewayName, providerPort } from '../gateway-name.ts';

/** Host name or IP address (IPv6 without brackets). */
export const HostText = Type.String({
  pattern: '^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45})$',
  description: 'a host name or an IP address',
});
export const Port = Type.Integer({ minimum: 1, maximum: 65_535 });
export const Transport = Type.Union(
  [Type.Literal('udp'), Type.Literal('tcp'), Type.Literal('tls'), Type.Literal('sips')],
  { description: 'tls: sip URIs over TLS; sips: sips URIs, for encryption of every hop' },
);

export const Gateways = Type.Array(
  Type.Object(
    {
      host: HostText,
      /** Default: 5060, with tls and sips 5061. */
      port: Type.Optional(Port),
      /** Default: udp. */
      transport: Type.Optional(Transport),
      /** Gateways with lower values are called first; default: 10. */
      priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
      /** Share of the calls among gateways of one priority (RFC 2782); default: 10. */
      weight: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
    },
    { additionalProperties: false },
  ),
  { maxItems: 16 },
);

/** Seconds; a SIP server gives up by itself after 32 (RFC 3261 section 17.1.1.2). */
const MAX_TIMEOUT = 32;

/** Hosts with colons are IPv6 addresses. @throws InvalidFieldError */
export function checkHost(field: string, host: string): void {
  if (host.includes(':') && !isIPv6(host))
    throw new InvalidFieldError('provider', field, 'must be a host name or an IP address', host);
}

/** @throws InvalidFieldError for a malformed address, one that is listed twice, gateways that nobody calls, and a wrong timeout */
export function checkGateways(
  gateways: Static<typeof Gateways>,
  register: string,
  opts: Readonly<Record<string, unknown>>,
): void {
  for (const [index, { host }] of gateways.entries()) checkHost(`gateways.${index}.host`, host);
  const names = gateways.map(({ host, transport = 'udp', port = providerPort(transport) }) =>
    gatewayName({ host, port, transport }),
  );
  const twice = names.findIndex((name, index) => names.indexOf(name) < index);
  if (twice >= 0)
    throw new InvalidFieldError('provider', `gateways.${twice}`, 'has an address that is listed already', names[twice]);
  if (gateways.length > 0 && register === 'inbound')
    throw new InvalidFieldError(
      'provider',
      'gateways',
      'must be empty with register inbound: calls go to the contacts that the gateways register here',
    );
  const timeout = opts['gateway_timeout'] ?? 0;
  if (!Number.isInteger(timeout) || (timeout as number) < 0 || (timeout as number) > MAX_TIMEOUT)
    throw new InvalidFieldError(
      'provider',
      'opts.gateway_timeout',
      `must be whole seconds from 0 to ${MAX_TIMEOUT}`,
      timeout,
    );
}
