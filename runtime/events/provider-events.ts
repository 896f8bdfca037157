/** Changes of the state of providers as events: `providerevents.provider_state`. */
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

/** The state as events and REST show it. @param known undefined for a provider that is switched off, or new */
export function shownProviderState(known: ProviderState | undefined) {
  const answer = known?.answer;
  return {
    state: known?.state ?? 'unregistered',
    reachable: known?.reachable ?? null,
    since: iso(known?.since),
    expires: iso(known?.expires),
    last_answer: answer ? { sip_status: answer.status, reason: answer.reason, at: iso(answer.at) } : null,
  } as const;
}

function iso(ms: number | null | undefined): string | null {
  return ms == null ? null : new Date(ms).toISOString();
}
