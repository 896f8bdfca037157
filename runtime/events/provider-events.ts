/** Changes of the state of providers and of their gateways as events: class `providerevents`. */
import type { DomainName } from '../domain-name/index.ts';
import type { EventBus } from './event-bus.ts';

/** What a node knows of a provider. Times are milliseconds since the epoch. */
export interface ProviderState {
  readonly state: 'registered' | 'registering' | 'rejected' | 'unreachable' | 'unregistered';
  readonly reachable: boolean | null;
  readonly since: number;
  readonly expires: number | null;
  readonly answer: { readonly status: number; readonly reason: string; readonly at: number } | null;
}

/** What a node knows of a gateway. Times are milliseconds since the epoch. */
export interface GatewayState {
  readonly reachable: boolean | null;
  readonly since: number;
  readonly answer: ProviderState['answer'];
  readonly retryAt: number | null;
}

/** A gateway as it is configured. */
interface NamedGateway {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly transport: string;
}

/** What a node knows of a provider and of its gateways. */
export interface KnownProvider {
  readonly status: ProviderState;
  readonly gateways: readonly { readonly gateway: NamedGateway; readonly status: GatewayState }[];
}

interface ChangedProvider {
  readonly id: string;
  readonly domain: DomainName;
  readonly code: string;
}

/** Makes the listener that publishes each change to the domain of the provider. */
export function providerEvents(bus: EventBus): (provider: ChangedProvider, state: ProviderState) => void {
  return ({ id, domain, code }, state) => {
    const data = { id, code, ...shownProviderState(state) };
    bus.publish({ domain, class: 'providerevents', type: 'provider_state', data });
  };
}

/** Makes the listener that publishes each change of a gateway to the domain of its provider. */
export function gatewayEvents(
  bus: EventBus,
): (provider: ChangedProvider, gateway: NamedGateway, state: GatewayState) => void {
  return ({ id, domain, code }, gateway, state) => {
    const data = { id, code, ...shownGateway(gateway, state) };
    bus.publish({ domain, class: 'providerevents', type: 'gateway_state', data });
  };
}

/** A gateway as events and REST show it. */
export function shownGateway({ name, host, port, transport }: NamedGateway, state: GatewayState) {
  const { reachable, since, answer, retryAt } = state;
  return {
    gateway: name,
    host,
    port,
    transport,
    reachable,
    since: iso(since),
    retry_at: retryAt !== null && retryAt > Date.now() ? iso(retryAt) : null,
    last_answer: shownAnswer(answer),
  };
}

function shownAnswer(answer: ProviderState['answer'] | undefined) {
  return answer ? { sip_status: answer.status, reason: answer.reason, at: iso(answer.at) } : null;
}

/** The state as events and REST show it. @param known undefined for a provider that is switched off, or new */
export function shownProviderState(known: ProviderState | undefined) {
  return {
    state: known?.state ?? 'unregistered',
    reachable: known?.reachable ?? null,
    since: iso(known?.since),
    expires: iso(known?.expires),
    last_answer: shownAnswer(known?.answer),
  } as const;
}

function iso(ms: number | null | undefined): string | null {
  return ms == null ? null : new Date(ms).toISOString();
}
