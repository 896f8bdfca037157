/** Outgoing MESSAGEs. */
import { answer, type SipAnswer } from './answers.ts';
import type { Srf, SrfIncomingResponse } from './srf-types.ts';

/** A text to one address, outside any call (RFC 3428). */
export interface OutgoingMessageOptions {
  /** Request-URI. */
  readonly uri: string;
  /** Next hop, if not the URI's. */
  readonly nextHop?: string | undefined;
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
export async function sendOutgoingMessage(
  srf: Srf,
  { uri, nextHop, callId, from, to, text }: Omit<OutgoingMessageOptions, 'via'>,
): Promise<SipAnswer> {
  const { promise, resolve } = Promise.withResolvers<SipAnswer>();
  const timer = setTimeout(() => resolve(answer(408, undefined, true)), PATIENCE_MS).unref();
  const headers = { From: from, To: to, 'Call-ID': callId, 'Content-Type': 'text/plain' };
  const proxy = nextHop === undefined ? {} : { proxy: nextHop };
  srf.request(uri, { method: 'MESSAGE', headers, body: text, ...proxy }, (err, req) => {
    if (req === undefined) return resolve(answer(503, err instanceof Error ? err.message : undefined, true));
    req.on('response', (res: SrfIncomingResponse) => {
      if (res.status >= 200) resolve(answer(res.status, res.reason, res.source_address === ''));
    });
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}
