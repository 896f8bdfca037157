import type { SipUser } from '../domain/directory.ts';
import { splitDtmfTail } from '../interpreter/dtmf-tail.ts';
import type { IncomingInvite } from '../signalling/incoming-invite.ts';
import { bracketUri, parseSipUri } from '../signalling/sip-uri.ts';
import type { Authentication } from './authentication.ts';
import { failureCause } from './call-phones.ts';
import { nameOf, numberOf, type Party } from './party.ts';
import { PhoneLeg } from './phone-leg.ts';
import { placeCall } from './place-call.ts';
import { replaceByCall } from './replacing-call.ts';
import type { SwitchTools } from './tools.ts';

/** Milliseconds a called party may ring before the caller gets 408. */
const RING_MS = 60_000;

/** A call from a phone: who it is, where it goes, and what the caller is told. */
export function takeIncomingCall(tools: SwitchTools, authentication: Authentication, invite: IncomingInvite): void {
  const sipUser = authentication.caller(invite.request, (status, headers) => invite.reject(status, undefined, headers));
  if (sipUser === undefined) return;
  const replaces = invite.header('Replaces');
  if (replaces !== undefined) {
    replaceByCall(tools, { kind: 'sipuser', domain: sipUser.domain, sipUser }, invite, replaces);
    return;
  }
  const target = parseSipUri(invite.requestUri);
  if (target === undefined || target.user === '') {
    invite.reject(404);
    return;
  }
  const { domain } = sipUser;
  const { number, tail } = splitDtmfTail(target.user);
  const party: Party = { kind: 'sipuser', domain, sipUser };
  const leg = PhoneLeg.incoming(tools, party, invite);
  const dialog = tools.dialogs.open({
    a: leg,
    localuri: bracketUri(number, domain),
    remoteuri: bracketUri(callerName(invite, sipUser), domain),
    site: tools.site,
    bindings: new Set(),
    opts: headerOpts(invite),
  });
  const decision = tools.directory.route(domain, numberOf(party), number);
  const attempt = placeCall(tools, decision, {
    dialog,
    caller: leg,
    domain,
    dialled: number,
    tail,
    fromNumber: numberOf(party),
    fromName: nameOf(party),
    timeoutMs: RING_MS,
    headers: {},
  });
  void attempt.final.then((final) => {
    if (final.status >= 300) dialog.end(failureCause(final));
  });
}

/** The user part of From, as long as it is one of the account's names. */
function callerName(invite: IncomingInvite, { login, phonenumber }: SipUser): string {
  const user = parseSipUri(invite.header('From') ?? '')?.user;
  return user === login ? login : phonenumber;
}

function headerOpts(invite: IncomingInvite): { 'referred-by'?: string } {
  const referredBy = invite.header('Referred-By');
  return referredBy === undefined ? {} : { 'referred-by': referredBy };
}
