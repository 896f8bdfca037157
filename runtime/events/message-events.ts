/** Texts between phones on the event bus: `messageevents.received`. */
import type { EventBus, NodeEvent } from './event-bus.ts';

/** Makes the listener that publishes texts, each when it is known what became of it. */
export function messageEvents(bus: EventBus): (text: { readonly domain: string } & NodeEvent['data']) => void {
  return ({ domain, ...data }) => void bus.publish({ domain, class: 'messageevents', type: 'received', data });
}
