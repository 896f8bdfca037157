/** Events of conferences: the conf role tells, the bus spreads. */
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

/** Where conferences tell what happens in them: class `confevents`, to the conference's domain. */
export interface ConferenceEvents {
  emit(domain: string, type: ConferenceEventType, data: Readonly<Record<string, EventValue>>): void;
}

export function conferenceEvents(bus: EventBus): ConferenceEvents {
  return {
    emit: (domain, type, data) => void bus.publish({ domain, class: 'confevents', type, data }),
  };
}
