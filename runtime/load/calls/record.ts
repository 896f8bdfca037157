/** What became of a call. */

/** Why a call failed. */
export type FailureKind =
  /** A final SIP status of 300 or more, or the `result` of an operation. */
  | 'refused'
  /** No final answer in time. */
  | 'timeout'
  /** The SIP server cannot be reached. */
  | 'unreachable'
  /** The REST service refused or did not answer. */
  | 'rest'
  /** The answer has no G.711, or sound would go to an address that is not allowed. */
  | 'no media'
  /** A SIP message that cannot be understood. */
  | 'bad message'
  | 'no sound'
  | 'one-way'
  | 'wrong sound'
  /** The far end hung up before the call had talked. */
  | 'dropped'
  /** The BYE was refused or not answered. */
  | 'bad end';

export interface Failure {
  readonly kind: FailureKind;
  /** E.g. `486 Busy Here`. */
  readonly detail: string;
}

/** A call of the load. Times are milliseconds from the start of this call, unless they say otherwise. */
export interface CallRecord {
  /** Milliseconds from the start of the run. */
  readonly startMs: number;
  /** Somebody listens. */
  readonly isChecked: boolean;
  /** To the first 180 or 183; of an originated call to the INVITE at the caller's phone. */
  ringing?: number;
  /** To the 200; of an originated call to the answer of the request, which comes when both are connected. */
  answered?: number;
  /** To the first packet with a known tone of the other side. */
  sound?: number;
  /** The caller heard what it should. */
  isHeard?: boolean;
  /** To the end. */
  ended?: number;
  failure?: Failure | undefined;
  /** Ended by the end of the run. */
  isCutShort?: boolean;
}
