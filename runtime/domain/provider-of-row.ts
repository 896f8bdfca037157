/** Converts stored providers for the call path. */
import type { DomainName } from '../domain-name/index.ts';
import type { ProviderRow } from './collections/providers.ts';
import { digestSecrets } from './collections/sipusers.ts';
import type { Gateway, Numbering, NumberRule, Provider } from './directory.ts';
import { gatewayName, providerPort } from './gateway-name.ts';
import { dialPattern } from './routing/pattern.ts';

type RuleRows = NonNullable<ProviderRow['mapping']['inbound']>;

const IDENTITY: Provider['identity'] = { trusted: true, send: 'none', sign: false, verify: false };

/** A stored provider with compiled patterns and defaults. */
export function providerOfRow(row: ProviderRow, domain: DomainName): Provider {
  const { ha1_md5: md5, ha1_sha256: sha256 } = digestSecrets(row.login, domain, row.secret);
  return {
    id: row.id,
    domain,
    code: row.code,
    name: row.name,
    enabled: row.enabled,
    host: row.host,
    port: row.port,
    transport: row.transport,
    register: row.register,
    registerExpires: row.register_expires,
    login: row.login,
    authUser: row.auth_user === '' ? row.login : row.auth_user,
    secret: row.secret,
    ha1: { md5, sha256 },
    fromDomain: row.from_domain === '' ? row.host : row.from_domain,
    addresses: row.addresses,
    numbers: row.numbers.map(dialPattern),
    mapping: {
      inbound: rules(row.mapping.inbound),
      outbound: rules(row.mapping.outbound),
      callerid: rules(row.mapping.callerid),
    },
    maxCalls: row.max_calls,
    codecs: row.opts.codecs,
    ping: typeof row.opts['ping'] === 'number' ? row.opts['ping'] : 0,
    numbering: numberingOf(row.numbering),
    identity: { ...IDENTITY, ...row.identity },
    gateways: row.gateways.map(gatewayOf),
    srtp: row.opts['srtp'] as Provider['srtp'],
    srtpKeys: row.opts['srtp_keys'] as Provider['srtpKeys'],
    gatewayTimeoutMs: 1000 * (typeof row.opts['gateway_timeout'] === 'number' ? row.opts['gateway_timeout'] : 4),
  };
}

function numberingOf(row: ProviderRow['numbering']): Numbering | undefined {
  const { country, national = '0', international = '00', format = 'e164', inside = 'e164' } = row;
  return country === undefined ? undefined : { country, national, international, format, inside };
}

function gatewayOf(row: ProviderRow['gateways'][number]): Gateway {
  const { host, transport = 'udp', port = providerPort(transport), priority = 10, weight = 10 } = row;
  return { name: gatewayName({ host, port, transport }), host, port, transport, priority, weight };
}

function rules(rows: RuleRows = []): NumberRule[] {
  return rows.map(({ pattern, strip, prepend }) => ({ pattern: dialPattern(pattern), strip, prepend }));
}
