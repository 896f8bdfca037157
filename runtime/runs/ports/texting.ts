import type { Answer } from '../call-values.ts';

/** Octets of UTF-8 that a text may have: MESSAGE outside a call has no congestion control (RFC 3428 section 8). */
export const MAX_TEXT_OCTETS = 1300;

/** A text for the phones of a sipuser, outside any call. */
export interface TextMessage {
  /** Number or name shown as the sender, in the domain. */
  readonly from: string;
  /** Shown beside it; empty: nothing. */
  readonly fromName: string;
  /** Number or login of a sipuser of the domain. */
  readonly to: string;
  readonly text: string;
}

/** Sends texts (SIP MESSAGE, RFC 3428). */
export interface TextPort {
  /**
   * Sends to every registered contact.
   * @returns the first 2xx, else the best answer (RFC 3261 section 16.7); `local` when no phone gave it: 404 for nobody of
   * the domain, 480 for nobody registered, 408 for no answer. Never rejects.
   */
  send(domain: string, message: TextMessage): Promise<Answer>;
}
