/** Events of conferences, published by the conf role. */
import type { DomainName } from '../domain-name/index.ts';
import type { CONFERENCE_EVENTS } from './catalogue.ts';
import type { EventBus, EventValue } from './event-bus.ts';

export type ConferenceEventType = keyof typeof CONFERENCE_EVENTS;

/** Publishes events of class `confevents` to the conference's domain. */
export interface ConferenceEvents {
  /** @param users ids of the users who take part */
  emit(
    domain: DomainName,
    type: ConferenceEventType,
    data: Readonly<Record<string, EventValue>>,
    users: readonly string[],
  ): void;
}

export function conferenceEvents(bus: EventBus): ConferenceEvents {
  return {
    emit: (domain, type, data, users) => void bus.publish({ domain, class: 'confevents', type, data, users }),
  };
}
