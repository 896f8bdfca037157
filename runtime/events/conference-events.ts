/** Events of conferences, published by the conf role. */
import type { DomainName } from '../domain-name/index.ts';
import type { EventBus, EventValue } from './event-bus.ts';

export const CONFERENCE_EVENT_TYPES = [
  'conf_start',
  'conf_join',
  'conf_leave',
  'conf_state',
  'conf_talking',
  'conf_muted',
  'conf_topology',
  'conf_recording',
  'conf_end',
] as const;

export type ConferenceEventType = (typeof CONFERENCE_EVENT_TYPES)[number];

/** Publishes events of class `confevents` to the conference's domain. */
export interface ConferenceEvents {
  emit(domain: DomainName, type: ConferenceEventType, data: Readonly<Record<string, EventValue>>): void;
}

export function conferenceEvents(bus: EventBus): ConferenceEvents {
  return {
    emit: (domain, type, data) => void bus.publish({ domain, class: 'confevents', type, data }),
  };
}
