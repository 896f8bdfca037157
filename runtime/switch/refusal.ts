import { answer, type SipAnswer } from '../signalling/answers.ts';
import type { Party } from './party.ts';

/** What SIP servers make of an address where nobody listens, or of a connection that is gone: 410 is drachtio-server's. */
const UNREACHED = new Set([410, 503]);

/** Whether the far end wants credentials that this platform does not have. */
export function isChallenge({ status }: SipAnswer): boolean {
  return status === 401 || status === 407;
}

/**
 * The refusal of a called party as the caller gets it. A challenge was for this platform, and is nothing that the caller could
 * answer: 500 where a provider sent it (RFC 3261 section 21.5.1), 480 where a phone did. A phone that cannot be reached is one
 * that is not there: 480 (section 21.4.18).
 */
export function refusalForCaller(refusal: SipAnswer, party: Party): SipAnswer {
  if (party.kind !== 'sipuser') return isChallenge(refusal) ? answer(500, undefined, true) : refusal;
  const unreached = refusal.local && UNREACHED.has(refusal.status);
  return unreached || isChallenge(refusal) ? answer(480, undefined, true) : refusal;
}
