/** Texts between phones as events: `messageevents.received`. */
import type { DomainName } from '../domain-name/index.ts';
import type { EventBus, NodeEvent } from './event-bus.ts';

/** Makes the listener that publishes each text once its delivery result is known. */
export function messageEvents(bus: EventBus): (text: { readonly domain: DomainName } & NodeEvent['data']) => void {
  return ({ domain, ...data }) => void bus.publish({ domain, class: 'messageevents', type: 'received', data });
}
