/** Final answers to outgoing requests. */
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

/** An answer with its status line; `local` when this node generated it without an answer of the far end. */
export function answer(status: number, reason: string | undefined, local: boolean): SipAnswer {
  const phrase = reason === undefined || reason === '' ? reasonPhrase(status) : reason;
  return { status, reason: phrase, line: `SIP/2.0 ${status} ${phrase}`, local };
}
