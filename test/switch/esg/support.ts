import { asDomainName } from '../../../runtime/domain-name/index.ts';
import type { Provider } from '../../../runtime/domain/directory.ts';

/** A provider with what a test is about. */
export function provider(changes: Partial<Provider> = {}): Provider {
  return {
    id: 'p1',
    domain: asDomainName('demo.local'),
    code: 'operator',
    name: 'Operator',
    enabled: true,
    host: '192.0.2.1',
    port: 5060,
    transport: 'udp',
    register: 'none',
    registerExpires: 600,
    login: 'acme',
    authUser: 'acme',
    secret: 'secret',
    ha1: { md5: '', sha256: '' },
    fromDomain: 'operator.example',
    addresses: [],
    numbers: [],
    mapping: { inbound: [], outbound: [], callerid: [] },
    maxCalls: 0,
    ping: 0,
    numbering: undefined,
    identity: { trusted: true, send: 'none', sign: false, verify: false },
    gateways: [],
    gatewayTimeoutMs: 4000,
    ...changes,
  };
}
