import type { EventHeaders } from '../esl/event.ts';
import type { CallerProfile, LegState } from './profile.ts';

/** The signalling side of a channel. */
export interface Signalling {
  /** Ends the call towards the far end, if that has not ended it itself. */
  end(cause: string): void;
  /** Sends a digit by SIP INFO. */
  sendInfoDigit(digit: string, milliseconds: number): void;
}

/** An application to be started. */
export interface QueuedExecution {
  readonly application: string;
  readonly data: string;
  /** Application-UUID of its events: the client's Event-UUID. */
  readonly uuid: string;
}

/** What an event of a channel has besides the channel's own values. */
export interface EventParts {
  /** Before and after them. */
  readonly first?: EventHeaders;
  readonly last?: EventHeaders;
  /** Made only when somebody gets the event. */
  readonly more?: () => EventHeaders;
  /** False without the channel's variables. */
  readonly variables?: boolean;
}

/** Who ended a call: decides which events the controlling connection still gets. */
export type EndedBy = 'application' | 'api' | 'far-end';

/** Which side of its bridge a channel is, and the other leg as it was when they were bridged. */
export interface OtherLeg {
  readonly type: 'originator' | 'originatee';
  readonly uuid: string;
  readonly profile: CallerProfile;
  readonly leg: LegState;
}
