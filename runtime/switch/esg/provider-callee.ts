/** Numbers behind a provider as callees. */
import type { ContactBinding, Gateway, Provider } from '../../domain/index.ts';
import { ANONYMOUS, plainUri } from '../../signalling/index.ts';
import { uriOfRoute } from '../addresses/next-hop.ts';
import { ANONYMOUS_CALLER, type Callee, type CalleeAddress, contactAddress } from '../addresses/callee.ts';
import type { ShownCaller } from '../legs/shown-caller.ts';
import { calledOutside, callerOutside } from './number-rules.ts';
import { telephoneDigits } from './numbering.ts';
import { identityHeaders } from './trunk-identity.ts';

/** A call to a number behind a provider. */
export interface TrunkCall {
  /** As the domain dialled it. */
  readonly number: string;
  /** The caller, as the domain sees it. */
  readonly caller: ShownCaller;
}

/**
 * A number behind a provider: at the provider's address, at its gateways in turn, or at the contacts of its gateway when that
 * registers here. The provider gets mapped numbers, with its own domain in From and To.
 * @param gateways in the order in which they are called
 * @param serviceRoute of the registration with the provider (RFC 3608)
 */
export function providerCallee(
  provider: Provider,
  { number, caller }: TrunkCall,
  contacts: readonly ContactBinding[],
  gateways: readonly Gateway[],
  serviceRoute: readonly string[] = [],
): Callee {
  const called = calledOutside(provider, number);
  const host = provider.fromDomain;
  return {
    account: provider.id,
    party: { kind: 'provider', domain: provider.domain, provider, number, name: undefined, esg: undefined },
    called,
    host,
    ...(gateways.length === 0
      ? { addresses: addressesOf(provider, called, contacts, serviceRoute) }
      : { inTurn: true, addresses: gateways.map((gateway) => gatewayAddress(gateway, called)) }),
    caller:
      caller.number === ANONYMOUS
        ? ANONYMOUS_CALLER
        : { number: callerOutside(provider, caller.number), name: caller.name, host },
    identity: identityHeaders(provider, caller),
    ...(provider.identity.sign && { signed: signedNumbers(provider, caller, called) }),
    ...(provider.secret === '' || provider.register === 'inbound'
      ? {}
      : { credentials: { username: provider.authUser, password: provider.secret } }),
  };
}

function signedNumbers(provider: Provider, caller: ShownCaller, called: string): Callee['signed'] {
  const number = caller.number === ANONYMOUS ? caller.asserted?.number : caller.number;
  const orig = number === undefined ? undefined : telephoneDigits(provider, callerOutside(provider, number));
  return { orig, dest: telephoneDigits(provider, called) };
}

function gatewayAddress(gateway: Gateway, called: string): CalleeAddress {
  return { uri: providerUri(gateway, called), nextHop: undefined, gateway };
}

function addressesOf(
  provider: Provider,
  called: string,
  contacts: readonly ContactBinding[],
  serviceRoute: readonly string[],
): CalleeAddress[] {
  if (provider.register !== 'inbound') {
    const [first] = serviceRoute;
    const routed = first === undefined ? {} : { route: serviceRoute.join(', ') };
    return [
      { uri: providerUri(provider, called), nextHop: first === undefined ? undefined : uriOfRoute(first), ...routed },
    ];
  }
  // A gateway is called at its registered address, with the number in place of its own name (RFC 6140 section 4.2).
  return contacts.map((binding) => {
    const { uri, nextHop, route } = contactAddress(binding);
    return { uri: withUser(uri, called), nextHop, route };
  });
}

/** `sip:NUMBER@host:port;transport=...`, or `sips:NUMBER@host:port`; without a number, the URI of the provider's registrar. */
export function providerUri(
  { host, port, transport }: Pick<Provider, 'host' | 'port' | 'transport'>,
  user?: string,
): string {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const uri = user === undefined ? `sip:${address}` : plainUri(user, address);
  if (transport === 'sips') return uri.replace(/^sip:/, 'sips:');
  return transport === 'udp' ? uri : `${uri};transport=${transport}`;
}

function withUser(uri: string, user: string): string {
  const rest = /^sips?:(?:[^@]*@)?(.*)$/i.exec(uri)?.[1] ?? '';
  return plainUri(user, rest);
}
