import { reasonPhrase } from '../sip-facts/index.ts';

/** An answer to a request that this node sent (RFC 3261 section 7.2). */
export interface SipAnswer {
  readonly status: number;
  readonly reason: string;
  /** The status line, e.g. `SIP/2.0 486 Busy Here`. */
  readonly line: string;
  /** True when nothing came from the far end and this side made the answer itself (408 after a time-out, ...). */
  readonly local: boolean;
  /** The far end could not be reached at all; `local` then. */
  readonly unreached?: boolean;
}

/** An answer with its status line; `local` when this node made it because nothing came from the far end. */
export function answer(status: number, reason: string | undefined, local: boolean): SipAnswer {
  const phrase = reason === undefined || reason === '' ? reasonPhrase(status) : reason;
  return { status, reason: phrase, line: `SIP/2.0 ${status} ${phrase}`, local };
}
