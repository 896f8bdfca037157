import { nameAddr, parseSipUri } from './sip-uri.ts';

/** Who withholds number and name (RFC 3323 section 4.1.1.3): user part and host of From, and the name shown. */
export const ANONYMOUS = 'anonymous';
const ANONYMOUS_HOST = 'anonymous.invalid';
export const ANONYMOUS_NAME = 'Anonymous';

/** Values of Privacy by which a caller withholds who it is (RFC 3323 section 4.2, RFC 3325 section 9.3). */
const WITHHOLDING = new Set(['header', 'user', 'id']);

/**
 * Whether a caller withholds who it is, whatever the network asserts: by Privacy, or by an anonymous From.
 * @param privacy the Privacy header; `none` asks that nothing be withheld
 */
export function withholdsIdentity(privacy: string | undefined, from: string): boolean {
  const wishes = (privacy ?? '').toLowerCase().split(/[\s;,]+/);
  if (wishes.some((wish) => WITHHOLDING.has(wish))) return true;
  return parseSipUri(from)?.host === ANONYMOUS_HOST && !wishes.includes('none');
}

/** From of a call to a phone, as `nameAddr`; a caller without a number has no domain either. */
export function callerAddr(name: string | undefined, number: string, domain: string): string {
  if (number !== ANONYMOUS) return nameAddr(name, number, domain);
  return nameAddr(name ?? ANONYMOUS_NAME, ANONYMOUS, ANONYMOUS_HOST);
}
