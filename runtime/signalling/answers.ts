import { STATUS_CODES } from 'node:http';

/** An answer to a request that this node sent (RFC 3261 section 7.2). */
export interface SipAnswer {
  readonly status: number;
  readonly reason: string;
  /** The status line, e.g. `SIP/2.0 486 Busy Here`. */
  readonly line: string;
  /** True when nothing came from the far end and this side made the answer itself (408 after a time-out, ...). */
  readonly local: boolean;
}

/** Reason phrases of RFC 3261 section 21 that HTTP does not share. */
const SIP_REASONS: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  181: 'Call Is Being Forwarded',
  182: 'Queued',
  183: 'Session Progress',
  404: 'Not Found',
  408: 'Request Timeout',
  480: 'Temporarily Unavailable',
  481: 'Call/Transaction Does Not Exist',
  482: 'Loop Detected',
  483: 'Too Many Hops',
  484: 'Address Incomplete',
  485: 'Ambiguous',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  489: 'Bad Event',
  491: 'Request Pending',
  500: 'Server Internal Error',
  503: 'Service Unavailable',
  600: 'Busy Everywhere',
  603: 'Decline',
  604: 'Does Not Exist Anywhere',
  606: 'Not Acceptable',
};

/** The usual reason phrase of a SIP status. */
export function reasonPhrase(status: number): string {
  return SIP_REASONS[status] ?? STATUS_CODES[status] ?? 'Unknown';
}

/** An answer with its status line; `local` when this node made it because nothing came from the far end. */
export function answer(status: number, reason: string | undefined, local: boolean): SipAnswer {
  const phrase = reason === undefined || reason === '' ? reasonPhrase(status) : reason;
  return { status, reason: phrase, line: `SIP/2.0 ${status} ${phrase}`, local };
}
