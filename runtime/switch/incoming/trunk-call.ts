import { randomBytes, randomUUID } from 'node:crypto';
import type { Provider } from '../../domain/index.ts';
import {
  ANONYMOUS,
  ANONYMOUS_NAME,
  bracketUri,
  displayName,
  type IncomingInvite,
  parseSipUri,
  withholdsIdentity,
} from '../../signalling/index.ts';
import { type Attempt, AttemptProgress, failedAttempt } from '../placing/attempt.ts';
import { observeTrunkCall } from '../placing/call-observer.ts';
import { reasonPhrase } from '../../sip-facts/index.ts';
import { limitReached, RETRY_AT_LIMIT } from '../dialogs/domain-limit.ts';
import { connectCaller } from './connect-caller.ts';
import type { Party } from '../legs/party.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import { verificationOf } from './verification.ts';
import type { SwitchTools } from '../tools.ts';
import { calledInside, isOwnNumber } from '../esg/number-rules.ts';
import { numberInside } from '../esg/numbering.ts';

/**
 * Takes a call from a provider. The called number must be one of the provider's numbers. The domain's routes apply, except
 * those out to a provider, because an outside party must not call at the domain's cost.
 * @param dialled the number that the provider calls
 */
export function takeTrunkCall(tools: SwitchTools, provider: Provider, dialled: string, invite: IncomingInvite): void {
  const attempt = place(tools, provider, dialled, invite);
  observeTrunkCall(tools, provider, 'in', attempt);
}

function place(tools: SwitchTools, provider: Provider, dialled: string, invite: IncomingInvite): Attempt {
  const party = callingParty(provider, invite);
  const refuse = (status: number, headers?: Record<string, string>): Attempt => {
    invite.reject(status, undefined, headers);
    tools.dialogs.refused({ party, callid: invite.callId, dialled, status, reason: reasonPhrase(status) });
    return failedAttempt(status);
  };
  if (dialled === '' || (provider.numbers.length > 0 && !isOwnNumber(provider, dialled))) return refuse(404);
  // Only phones may replace a party of a live call.
  if (invite.header('Replaces') !== undefined) return refuse(403);
  const number = calledInside(provider, dialled);
  if (tools.directory.route(provider.domain, party.number, number).kind === 'provider') return refuse(403);
  const verifying = verificationOf(tools, provider, { caller: identityOf(provider, invite), called: dialled }, invite);
  if (verifying === undefined) return admit(tools, { party, number, refuse }, invite);
  const progress = new AttemptProgress();
  void verifying.then(async (verdict) => {
    const admitted = { party: { ...party, verdict }, number, refuse };
    const attempt = invite.cancelled.aborted ? refuse(487) : admit(tools, admitted, invite);
    progress.progress(await attempt.provisional);
    progress.finish(await attempt.final);
  });
  return progress;
}

interface Admitted {
  readonly party: Party & { readonly kind: 'provider' };
  /** The called number, as the domain routes it. */
  readonly number: string;
  readonly refuse: (status: number, headers?: Record<string, string>) => Attempt;
}

function admit(tools: SwitchTools, { party, number, refuse }: Admitted, invite: IncomingInvite): Attempt {
  const { provider } = party;
  if (provider.maxCalls > 0 && tools.dialogs.countOfProvider(provider.id) >= provider.maxCalls)
    return refuse(503, { 'Retry-After': String(RETRY_AT_LIMIT) });
  if (limitReached(tools, provider.domain) !== undefined) return refuse(503, { 'Retry-After': String(RETRY_AT_LIMIT) });
  // The gateway role hides the outside caller: the dialog names the leg by a Call-ID of ours.
  const leg = PhoneLeg.incoming(tools, party, invite, { callid: `${randomUUID()}@${provider.domain}` });
  return connectCaller(tools, leg, { number, tail: [], remoteuri: bracketUri(party.number, provider.domain) }, invite);
}

/**
 * The caller, as asserted by a trusted provider (RFC 3325 section 9.1), or else from From. A withheld identity is shown nowhere:
 * phones, scenarios and lists of calls are outside the provider's trust domain.
 */
function callingParty(provider: Provider, invite: IncomingInvite): Party & { kind: 'provider' } {
  const identity = identityOf(provider, invite);
  const withheld = withholdsIdentity(invite.header('Privacy'), invite.header('From') ?? '');
  return {
    kind: 'provider',
    domain: provider.domain,
    provider,
    number: withheld ? ANONYMOUS : numberInside(provider, parseSipUri(identity)?.user ?? '') || ANONYMOUS,
    name: withheld ? ANONYMOUS_NAME : displayName(identity),
    esg: { esgdlg: randomBytes(6).toString('hex'), esgcallid: invite.callId },
  };
}

function identityOf({ identity: { trusted } }: Provider, invite: IncomingInvite): string {
  return (trusted ? invite.header('P-Asserted-Identity') : undefined) ?? invite.header('From') ?? '';
}
