/** Converts refusals of called parties to answers for the caller. */
import { answer, type SipAnswer } from '../../signalling/index.ts';
import { isGone } from '../esg/gateways.ts';
import type { Party } from '../legs/party.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * A called party's refusal as the caller gets it. A challenge was meant for this platform, so the caller cannot answer it:
 * a provider's becomes 500 (RFC 3261 section 21.5.1) and is logged, a phone's becomes 480. An unreachable phone becomes
 * 480 too (section 21.4.18), an unreachable provider 503 (section 21.5.4).
 * @param leg of the called party
 */
export function refusalForCaller(
  { log }: Pick<SwitchTools, 'log'>,
  refusal: SipAnswer,
  party: Party,
  leg: { readonly callid: string },
): SipAnswer {
  const { status } = refusal;
  const challenge = status === 401 || status === 407;
  if (party.kind === 'sipuser') {
    if (challenge) return answer(480, undefined, true);
    return status !== 408 && isGone(refusal) ? { ...answer(480, undefined, true), unreached: true } : refusal;
  }
  if (party.kind === 'provider' && isGone(refusal)) {
    // Those of several gateways are logged one by one.
    if (party.provider.gateways.length === 0) {
      const { code, domain } = party.provider;
      const details = { provider: code, domain, status, reason: refusal.reason, callid: leg.callid };
      log.warn(details, 'the provider could not be reached');
    }
    return { ...answer(503, undefined, true), unreached: true };
  }
  if (!challenge) return refusal;
  if (party.kind === 'provider') {
    const { code, domain } = party.provider;
    const details = { provider: code, domain, status, callid: leg.callid };
    log.warn(details, 'the provider rejected our credentials: check its login, auth_user and pwd');
  }
  return answer(500, undefined, true);
}
