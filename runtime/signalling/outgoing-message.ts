/** Outgoing MESSAGEs. */
import type { SipAnswer } from './answers.ts';
import { sendOutgoingRequest } from './outgoing-request.ts';
import type { Srf } from './srf-types.ts';

/** A text to one address, outside any call (RFC 3428). */
export interface OutgoingMessageOptions {
  /** Request-URI. */
  readonly uri: string;
  /** Next hop, if not the URI's. */
  readonly nextHop?: string | undefined;
  /** Value of Route. */
  readonly route?: string | undefined;
  /** Name of the SIP server to use; absent: any. */
  readonly via?: string | undefined;
  readonly callId: string;
  /** Name-addr without tag. */
  readonly from: string;
  readonly to: string;
  /** `text/plain`, in UTF-8. */
  readonly text: string;
}

/** Milliseconds to wait for an answer: less than the sender's own timeout (timer F, RFC 3261 section 17.1.2.2). */
const PATIENCE_MS = 20_000;

/**
 * Sends a MESSAGE. Without Contact, because it creates no dialog (RFC 3428 section 4).
 * @returns the final answer; 408 after a timeout, 503 when it could not be sent. Never rejects.
 */
export function sendOutgoingMessage(
  srf: Srf,
  { uri, nextHop, route, callId, from, to, text }: Omit<OutgoingMessageOptions, 'via'>,
): Promise<SipAnswer> {
  const headers = { From: from, To: to, 'Call-ID': callId, 'Content-Type': 'text/plain' };
  return sendOutgoingRequest(srf, {
    method: 'MESSAGE',
    uri,
    nextHop,
    route,
    headers,
    body: text,
    patienceMs: PATIENCE_MS,
  });
}
