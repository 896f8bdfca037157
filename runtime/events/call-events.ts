/** Events of calls (specification, "Events" 1 and 2), published by the switch, the recorder and the recogniser. */
import type { DomainName } from '../domain-name/index.ts';
import type { CALL_EVENTS } from './catalogue.ts';
import type { EventBus, EventValue, NodeEvent } from './event-bus.ts';

export type CallEventType = keyof typeof CALL_EVENTS;

/** Common data of call events; others may be added. */
export interface CallEventData {
  readonly inviteid: string;
  readonly connectionid: string;
  readonly dialogid: string;
  readonly [field: string]: EventValue;
}

/** Publishes call events. */
export interface CallEvents {
  /**
   * @param domains of the dialog's legs: each receives the event
   * @param users ids of the users of the call
   */
  emit(domains: readonly DomainName[], type: CallEventType, data: CallEventData, users?: readonly string[]): void;
  /** Publishes the end of a requested transcription (`ccsevents.connection_set_asr`). */
  transcribed(domains: readonly DomainName[], data: CallEventData): void;
}

export function callEvents(bus: EventBus): CallEvents {
  const publish = (domains: readonly DomainName[], event: Omit<NodeEvent, 'seq' | 'ts' | 'domain'>): void => {
    for (const domain of new Set(domains)) bus.publish({ domain, ...event });
  };
  return {
    emit: (domains, type, data, users = []) => publish(domains, { class: 'callevents', type, data, users }),
    transcribed: (domains, data) => publish(domains, { class: 'ccsevents', type: 'connection_set_asr', data }),
  };
}
