import { answer, type SipAnswer } from '../../signalling/index.ts';
import type { Party } from '../legs/party.ts';
import type { SwitchTools } from '../tools.ts';

/** What SIP servers make of an address where nobody listens, or of a connection that is gone: 410 is drachtio-server's. */
const UNREACHED = new Set([410, 503]);

/**
 * The refusal of a called party as the caller gets it. A challenge was for this platform, and is nothing that the caller could
 * answer: 500 where a provider sent it (RFC 3261 section 21.5.1), which is logged, 480 where a phone did. A phone that cannot be
 * reached is one that is not there: 480 (section 21.4.18).
 * @param leg the called party's
 */
export function refusalForCaller(
  { log }: Pick<SwitchTools, 'log'>,
  refusal: SipAnswer,
  party: Party,
  leg: { readonly callid: string },
): SipAnswer {
  const { status, local } = refusal;
  const challenge = status === 401 || status === 407;
  if (party.kind === 'sipuser') {
    if (challenge) return answer(480, undefined, true);
    return local && UNREACHED.has(status) ? { ...answer(480, undefined, true), unreached: true } : refusal;
  }
  if (!challenge) return refusal;
  if (party.kind === 'provider') {
    const { code, domain } = party.provider;
    const details = { provider: code, domain, status, callid: leg.callid };
    log.warn(details, 'the provider does not accept our credentials: see its login, auth_user and pwd');
  }
  return answer(500, undefined, true);
}
