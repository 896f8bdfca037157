/** Text messages of scenarios. */
import type { DomainName } from '../../domain-name/index.ts';
import type { Answer } from '../call-values.ts';

/** Limit of a text in UTF-8 octets: MESSAGE outside a call has no congestion control (RFC 3428 section 8). */
export const MAX_TEXT_OCTETS = 1300;

/** A text for the phones of a sipuser, outside any call. */
export interface TextMessage {
  /** Number or name of the sender, in the domain. */
  readonly from: string;
  /** Display name of the sender; empty: none. */
  readonly fromName: string;
  /** Number or login of a sipuser of the domain. */
  readonly to: string;
  readonly text: string;
}

/** Sends texts (SIP MESSAGE, RFC 3428). */
export interface TextPort {
  /**
   * Sends to every registered contact.
   * @returns the first 2xx, otherwise the best answer (RFC 3261 section 16.7). `local` without an answer of a phone: 404
   * unknown in the domain, 480 no registered contact, 408 no answer. Never rejects.
   */
  send(domain: DomainName, message: TextMessage): Promise<Answer>;
}
