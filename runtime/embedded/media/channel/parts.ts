/** Small types of a channel: its signalling side, queued applications, event additions. */
import type { BuildHeaders, EventHeaders } from '../esl/event.ts';
import type { CallerProfile, LegState } from './profile.ts';

/** The signalling side of a channel. */
export interface Signalling {
  /** Ends the call towards the far end, unless the far end has ended it. */
  end(cause: string): void;
  /** Sends a digit by SIP INFO. */
  sendInfoDigit(digit: string, milliseconds: number): void;
}

/** A queued application. */
export interface QueuedExecution {
  readonly application: string;
  readonly data: string;
  /** Application-UUID of its events: the client's Event-UUID. */
  readonly uuid: string;
}

/** Additions to the channel's own values in an event. */
export interface EventParts {
  /** Headers before and after the channel's. */
  readonly first?: EventHeaders;
  readonly last?: EventHeaders;
  /** Further headers, built only when a client gets the event. */
  readonly more?: BuildHeaders;
  /** False leaves out the channel's variables. */
  readonly variables?: boolean;
}

/** The side that ended a call. It decides which events the controlling connection still gets. */
export type EndedBy = 'application' | 'api' | 'far-end';

/** A channel's side of its bridge, and the state of the other leg when they were bridged. */
export interface OtherLeg {
  readonly type: 'originator' | 'originatee';
  readonly uuid: string;
  readonly profile: CallerProfile;
  readonly leg: LegState;
}
