import { SipParseError } from './errors.ts';
import type { SipRequest, SipResponse } from './message.ts';

/** An invalid message that was read far enough to answer it with 400 (RFC 3261 section 21.4.1). */
export class RejectedMessageError extends SipParseError {
  /** The message, as far as it was read. */
  readonly rejected: SipRequest | SipResponse;
  constructor(field: string, found: string, expected: string, rejected: SipRequest | SipResponse) {
    super(field, found, expected);
    this.rejected = rejected;
  }
}
