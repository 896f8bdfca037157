/** Texts between phones on the event bus: `messageevents.received`. */
import type { EventBus } from './event-bus.ts';

/** A text that a phone sent to somebody of its domain. */
export interface ReceivedText {
  readonly domain: string;
  /** Number of whoever sent it. */
  readonly from: string;
  readonly fromlogin: string;
  /** Number of whoever it is for. */
  readonly to: string;
  readonly tologin: string;
  readonly text: string;
  /** SIP status that the sender got. */
  readonly status: number;
  /** Whether a phone has it. */
  readonly delivered: boolean;
}

/** Makes the listener that publishes texts, each when it is known what became of it. */
export function messageEvents(bus: EventBus): (text: ReceivedText) => void {
  return ({ domain, ...data }) => void bus.publish({ domain, class: 'messageevents', type: 'received', data });
}
