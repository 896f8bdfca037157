/** Errors of the SIP stack. */

/** Text that is not a valid SIP message, or not a valid part of one (RFC 3261 section 25). */
export class SipParseError extends Error {
  override readonly name = 'SipParseError';
  /** The part that was read: a header name, `start-line`, `message` ... */
  readonly field: string;
  /** The text found there, cut to 80 characters. */
  readonly found: string;
  constructor(field: string, found: string, expected: string) {
    const cut = found.length > 80 ? `${found.slice(0, 80)}...` : found;
    super(`${field}: expected ${expected}, found ${JSON.stringify(cut)}`);
    this.field = field;
    this.found = cut;
  }
}

/**
 * Why a message was not delivered or not answered:
 * - `refused`: no process listens there (TCP reset, ICMP port unreachable);
 * - `unreachable`: any other network error;
 * - `closed`: the connection ended, or its peer reads too slowly;
 * - `insecure`: the TLS handshake failed, or the certificate is not the peer's;
 * - `unresolved`: the host name has no address;
 * - `no-transport`: no listener for that transport (e.g. TLS for a `sips` URI);
 * - `too-large`: more than a datagram holds;
 * - `timeout`: timer B or F fired (RFC 3261 section 17.1).
 */
export type SipFailureReason =
  | 'refused'
  | 'unreachable'
  | 'closed'
  | 'insecure'
  | 'unresolved'
  | 'no-transport'
  | 'too-large'
  | 'timeout';

/** A message could not be delivered, or a request timed out. */
export class SipTransportError extends Error {
  override readonly name = 'SipTransportError';
  readonly reason: SipFailureReason;
  /** `transport/host:port` of the peer. */
  readonly target: string;
  readonly detail: string | undefined;
  constructor(reason: SipFailureReason, target: string, detail?: string) {
    super(`${target}: ${reason}${detail === undefined ? '' : ` (${detail})`}`);
    this.reason = reason;
    this.target = target;
    this.detail = detail;
  }
}
