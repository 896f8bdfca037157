/** Outgoing OPTIONS: asks whether somebody is there. */
import type { SipAnswer } from './answers.ts';
import { sendOutgoingRequest } from './outgoing-request.ts';
import type { Srf } from './srf-types.ts';

export interface OutgoingOptionsOptions {
  /** Request-URI. */
  readonly uri: string;
  /** Next hop, if not the URI's. */
  readonly nextHop?: string | undefined;
  /** Value of Route. */
  readonly route?: string | undefined;
  /** Name of the SIP server to use; absent: any. */
  readonly via?: string | undefined;
  /** Name-addr without tag. */
  readonly from: string;
  /** Milliseconds to wait for an answer; default: five seconds. */
  readonly patienceMs?: number | undefined;
}

/** Milliseconds to wait for an answer. By UDP the request has been sent four times until then (RFC 3261 section 17.1.2.2). */
const PATIENCE_MS = 5_000;

/**
 * Sends OPTIONS outside of a dialog (RFC 3261 section 11.1).
 * @returns the final answer; 408 without one in time, 503 when it could not be sent. Never rejects.
 */
export function sendOutgoingOptions(
  srf: Srf,
  { uri, nextHop, route, from, patienceMs = PATIENCE_MS }: Omit<OutgoingOptionsOptions, 'via'>,
): Promise<SipAnswer> {
  // The SIP server replaces `localhost` by its own address.
  const headers = { From: from, To: `<${uri}>`, Contact: '<sip:localhost>', Accept: 'application/sdp' };
  return sendOutgoingRequest(srf, { method: 'OPTIONS', uri, nextHop, route, headers, patienceMs });
}
