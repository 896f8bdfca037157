/** Caller privacy. */
import { nameAddr, parseSipUri } from './sip-uri.ts';

/** The anonymous caller (RFC 3323 section 4.1.1.3): user part and host of From, and display name. */
export const ANONYMOUS = 'anonymous';
const ANONYMOUS_HOST = 'anonymous.invalid';
export const ANONYMOUS_NAME = 'Anonymous';

/** Headers of a request whose caller withholds the number. */
export const WITHHELD: Readonly<Record<string, string>> = { Privacy: 'id' };

/** Privacy values that withhold the caller's identity (RFC 3323 section 4.2, RFC 3325 section 9.3). */
const WITHHOLDING = new Set(['header', 'user', 'id']);

/**
 * True when the caller withholds the identity, by Privacy or an anonymous From, whatever the network asserts.
 * @param privacy the Privacy header; `none` requests no privacy
 */
export function withholdsIdentity(privacy: string | undefined, from: string): boolean {
  const wishes = (privacy ?? '').toLowerCase().split(/[\s;,]+/);
  if (wishes.some((wish) => WITHHOLDING.has(wish))) return true;
  return parseSipUri(from)?.host === ANONYMOUS_HOST && !wishes.includes('none');
}

/** From of a call, as `nameAddr`; without a number the name and the domain are omitted, too. */
export function callerAddr(name: string | undefined, number: string, domain: string): string {
  if (number !== ANONYMOUS) return nameAddr(name, number, domain);
  return nameAddr(ANONYMOUS_NAME, ANONYMOUS, ANONYMOUS_HOST);
}
