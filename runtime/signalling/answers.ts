/** Final answers to outgoing requests. */
import type { SrfIncomingResponse } from './srf-types.ts';
import { reasonPhrase } from '../sip-facts/index.ts';

/** An answer to a request of this node (RFC 3261 section 7.2). */
export interface SipAnswer {
  readonly status: number;
  readonly reason: string;
  /** The status line, e.g. `SIP/2.0 486 Busy Here`. */
  readonly line: string;
  /** True when the far end did not answer and this side generated the answer (408 after a timeout, ...). */
  readonly local: boolean;
  /** True when the far end was unreachable; then `local` is true, too. */
  readonly unreached?: boolean;
  /** Seconds for which the far end asks to be left alone (503 with Retry-After, RFC 3261 section 21.5.4). */
  readonly retryAfter?: number;
}

/**
 * The answer to a request over this URI. One that the SIP server made itself, as the far end was not reached, has the reason
 * of it where that is known.
 */
export function answerOf(res: SrfIncomingResponse, uri: string): SipAnswer {
  const local = res.source_address === '';
  return answer(res.status, (local ? whyUnreached(res, uri) : undefined) ?? res.reason, local);
}

/** The embedded SIP server names failures of TLS in Warning (RFC 3261 section 20.43). */
function whyUnreached(res: SrfIncomingResponse, uri: string): string | undefined {
  if (res.status === UNSUPPORTED_URI_SCHEME && isSecureUri(uri)) return NO_TLS;
  return /^399 \S+ "(.*)"$/.exec(res.get('Warning')?.trim() ?? '')?.[1];
}

const UNSUPPORTED_URI_SCHEME = 416;
const NO_TLS = 'The SIP server has no port for TLS, which needs a certificate';

function isSecureUri(uri: string): boolean {
  return /^sips:|;transport=tls(?:;|$)/i.test(uri);
}

/** An answer with its status line; `local` when this node generated it without an answer of the far end. */
export function answer(status: number, reason: string | undefined, local: boolean): SipAnswer {
  const phrase = reason === undefined || reason === '' ? reasonPhrase(status) : reason;
  return { status, reason: phrase, line: `SIP/2.0 ${status} ${phrase}`, local };
}
