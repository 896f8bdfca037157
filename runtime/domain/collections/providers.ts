/** The collection of providers (trunks). */
import { isIP } from 'node:net';
import { type Static, Type } from 'typebox';
import type { ProviderTransport } from '../directory.ts';
import { InvalidFieldError } from '../errors.ts';
import { providerPort } from '../gateway-name.ts';
import type { CollectionDefinition } from './definition.ts';
import { Code, Composite, DialPatternText, Id, Label, Opts, Password } from './fields.ts';
import { checkGateways, checkHost, Gateways, HostText, Port, Transport } from './gateways.ts';
import { checkNumbering, NumberingField } from './numbering.ts';
import { checkSrtp, checkSrtpKeys } from './srtp-fields.ts';

/**
 * A rewriting rule for numbers: the first rule with a matching pattern removes `strip` characters and prepends
 * `prepend`.
 */
const NumberRule = Type.Object(
  {
    pattern: DialPatternText,
    strip: Type.Integer({ minimum: 0, maximum: 32 }),
    prepend: Type.String({ pattern: '^\\+?[0-9*#]{0,32}$', description: 'digits, `*`, `#`, a leading `+`' }),
  },
  { additionalProperties: false },
);
const NumberRules = Type.Array(NumberRule, { maxItems: 500 });

const schema = Type.Object({
  id: Id,
  domain_id: Id,
  /** Code in routes and events; unique within the domain. */
  code: Code,
  name: Label,
  enabled: Type.Boolean(),
  /** Host name or IP address (IPv6 without brackets): target of calls and, with `outbound`, of registrations. */
  host: HostText,
  port: Port,
  transport: Transport,
  /** Addresses that calls go to in turn, in place of `host`. */
  gateways: Gateways,
  /**
   * `outbound`: this node registers with the provider; `inbound`: the provider's gateway registers here; `none`:
   * identified by address.
   */
  register: Type.Union([Type.Literal('none'), Type.Literal('outbound'), Type.Literal('inbound')]),
  /** Expiry requested in a REGISTER, in seconds. */
  register_expires: Type.Integer({ minimum: 60, maximum: 86_400 }),
  /** User name of the account: From and Contact user of registrations, and auth user when `auth_user` is empty. */
  login: Type.String({ pattern: "^[A-Za-z0-9_.!~'()&=+$,*#@-]{0,128}$", description: 'a SIP user name' }),
  auth_user: Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f":]{0,128}$', description: 'a user name' }),
  /** Secret of the account, stored in clear for the digest client (RFC 7616 section 3.4.2); never returned. */
  pwd: Type.Optional(Password),
  /** Domain in From and To of requests to the provider; empty: `host`. */
  from_domain: Type.String({
    pattern: '^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?)?$',
    description: 'a host name; empty: the host',
  }),
  /** Source addresses and networks (CIDR) of the provider's calls; empty: the addresses of `host`. */
  addresses: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100, uniqueItems: true }),
  /** Numbers of the account in the provider's format: calls to them belong to the domain. Patterns as in routes. */
  numbers: Type.Array(DialPatternText, { maxItems: 10_000, uniqueItems: true }),
  mapping: Type.Object(
    {
      /** Rewrites the called number of incoming calls, before routing. */
      inbound: Type.Optional(NumberRules),
      /** Rewrites the called number of outgoing calls. */
      outbound: Type.Optional(NumberRules),
      /** Rewrites the caller's number of outgoing calls. */
      callerid: Type.Optional(NumberRules),
    },
    { additionalProperties: false },
  ),
  /** How the provider and the domain write numbers. */
  numbering: NumberingField,
  /** How callers are named between the provider and this platform (RFC 3325). */
  identity: Type.Object(
    {
      /** Whether its P-Asserted-Identity names the caller; default: true. */
      trusted: Type.Optional(Type.Boolean()),
      /** The header that names the caller to it: P-Asserted-Identity, P-Preferred-Identity, or none (default). */
      send: Type.Optional(Type.Union([Type.Literal('none'), Type.Literal('asserted'), Type.Literal('preferred')])),
      /** Whether calls to it are signed (RFC 8224, SHAKEN), and signatures of its calls are verified; default: false. */
      sign: Type.Optional(Type.Boolean()),
      verify: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
  /** Largest number of concurrent calls in both directions; 0: unlimited. */
  max_calls: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  opts: Opts,
  ext: Composite,
});

/** Seconds. */
const MAX_PING = 86_400;

export type ProviderRow = Static<typeof schema> & {
  /** The password; empty: none, and no gateway can register with it. */
  readonly secret: string;
};

/** Trunk accounts at other operators, for the esg role. */
export const providers: CollectionDefinition = {
  entity: 'provider',
  table: 'providers',
  schema,
  defaults: {
    name: '',
    enabled: true,
    transport: 'udp',
    gateways: [],
    register: 'none',
    register_expires: 600,
    login: '',
    auth_user: '',
    from_domain: '',
    addresses: [],
    numbers: [],
    mapping: {},
    numbering: {},
    identity: {},
    max_calls: 0,
    opts: {},
    ext: {},
  },
  defaultsOf: ({ transport }) => ({ port: providerPort(transport as ProviderTransport) }),
  composites: ['opts', 'ext'],
  json: ['gateways', 'addresses', 'numbers', 'mapping', 'numbering', 'identity'],
  writeOnly: ['pwd'],
  hidden: ['secret'],
  constraints: { providers_code_key: 'code', providers_gateway_key: 'login', providers_domain_id_fkey: 'domain_id' },
  derive(entity, before) {
    const { addresses, gateways, host, numbering, register, login, pwd, opts } = entity as ProviderRow;
    addresses.forEach((address, index) => {
      if (!isNetwork(address))
        throw new InvalidFieldError(
          'provider',
          `addresses.${index}`,
          'must be an IP address or a network (CIDR)',
          address,
        );
    });
    const ping = opts['ping'] ?? 0;
    if (!Number.isInteger(ping) || (ping as number) < 0 || (ping as number) > MAX_PING)
      throw new InvalidFieldError('provider', 'opts.ping', `must be whole seconds from 0 to ${MAX_PING}`, ping);
    checkSrtp(opts);
    checkSrtpKeys('provider', 'opts', opts);
    checkNumbering(numbering);
    checkHost('host', host);
    checkGateways(gateways, register, opts);
    if (register !== 'none' && login === '')
      throw new InvalidFieldError('provider', 'login', `is required with register ${register}`);
    const secret = pwd ?? before?.['secret'] ?? '';
    return Promise.resolve({ secret });
  },
};

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}
