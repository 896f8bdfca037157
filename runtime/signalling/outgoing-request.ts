/** Requests outside of calls: MESSAGE, OPTIONS and NOTIFY. */
import { answer, answerOf, type SipAnswer } from './answers.ts';
import type { Srf, SrfIncomingResponse } from './srf-types.ts';

/** A request to one address, outside any call. */
export interface OutgoingRequest {
  readonly method: 'MESSAGE' | 'OPTIONS' | 'NOTIFY';
  /** Request-URI. */
  readonly uri: string;
  /** Next hop, if not the URI's. */
  readonly nextHop?: string | undefined;
  /** Value of Route. */
  readonly route?: string | undefined;
  /** The SIP server's name of the dialog; absent: outside any dialog. */
  readonly dialog?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds to wait for an answer. */
  readonly patienceMs: number;
}

/**
 * Sends a request.
 * @returns the final answer; 408 after a timeout, 503 when it could not be sent, then with `unsent`. Never rejects.
 */
export async function sendOutgoingRequest(
  srf: Srf,
  { method, uri, nextHop, route, dialog, headers, body, patienceMs }: OutgoingRequest,
): Promise<SipAnswer & { readonly unsent?: true }> {
  const { promise, resolve } = Promise.withResolvers<SipAnswer & { readonly unsent?: true }>();
  const timer = setTimeout(() => resolve(answer(408, undefined, true)), patienceMs).unref();
  const more = {
    ...(body !== undefined && { body }),
    ...(nextHop !== undefined && { proxy: nextHop }),
    ...(dialog !== undefined && { stackDialogId: dialog }),
  };
  try {
    srf.request(
      uri,
      { method, headers: { ...headers, ...(route !== undefined && { Route: route }) }, ...more },
      (err, req) => {
        if (req === undefined)
          return resolve({ ...answer(503, err instanceof Error ? err.message : undefined, true), unsent: true });
        req.on('response', (res: SrfIncomingResponse) => {
          if (res.status >= 200) resolve(answerOf(res, nextHop ?? uri));
        });
      },
    );
    return await promise;
  } catch (error) {
    // The library throws while it has no connection.
    return { ...answer(503, (error as Error).message, true), unsent: true };
  } finally {
    clearTimeout(timer);
  }
}
