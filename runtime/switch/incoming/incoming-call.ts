import type { SipUser } from '../../domain/index.ts';
import { splitDtmfTail } from '../../runs/index.ts';
import { bracketUri, type IncomingInvite, parseSipUri } from '../../signalling/index.ts';
import { limitReached, RETRY_AT_LIMIT } from '../dialogs/domain-limit.ts';
import type { Authentication } from '../registrations/authentication.ts';
import { connectCaller } from './connect-caller.ts';
import { takeTrunkCall } from './trunk-call.ts';
import { phoneIdentity } from './phone-identity.ts';
import type { Trunks } from '../esg/trunks.ts';
import { isFromContact } from '../addresses/next-hop.ts';
import type { Party } from '../legs/party.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import { replaceByCall } from '../transfers/replacing-call.ts';
import type { SwitchTools } from '../tools.ts';

/** Takes a call from outside the node: authenticates the caller, and places the call or refuses it. */
export function takeIncomingCall(
  tools: SwitchTools,
  authentication: Authentication,
  trunks: Trunks,
  invite: IncomingInvite,
): void {
  const account = authentication.caller(invite.request, (status, headers) => invite.reject(status, undefined, headers));
  if (account === undefined) return;
  if (account.kind === 'sipuser') takePhoneCall(tools, account.sipUser, invite);
  else takeTrunkCall(tools, account.provider, trunks.dialled(invite.request), invite);
}

function takePhoneCall(tools: SwitchTools, sipUser: SipUser, invite: IncomingInvite): void {
  const party: Party = { kind: 'sipuser', domain: sipUser.domain, sipUser };
  const replaces = invite.header('Replaces');
  if (replaces !== undefined) {
    replaceByCall(tools, party, invite, replaces);
    return;
  }
  const target = parseSipUri(invite.requestUri);
  // The number of a foreign address is not ours (RFC 3261 section 8.2.2.1).
  if (target === undefined || target.user === '' || !tools.isHere(target.host, sipUser.domain)) {
    invite.reject(404);
    const { callId: callid } = invite;
    tools.dialogs.refused({ party, callid, dialled: target?.user ?? '', status: 404, reason: 'Not Found' });
    return;
  }
  if (limitReached(tools, sipUser.domain) !== undefined) {
    invite.reject(503, undefined, { 'Retry-After': String(RETRY_AT_LIMIT) });
    const { callId: callid } = invite;
    tools.dialogs.refused({ party, callid, dialled: target.user, status: 503, reason: 'Service Unavailable' });
    return;
  }
  const { number, tail } = splitDtmfTail(target.user);
  const leg = PhoneLeg.incoming(tools, party, invite, { allowEvents: registeredEvents(tools, sipUser, invite) });
  leg.shownAs = phoneIdentity(tools.directory, sipUser, invite);
  connectCaller(
    tools,
    leg,
    { number, tail, remoteuri: bracketUri(callerUser(invite.header('From'), sipUser), sipUser.domain) },
    invite,
  );
}

/** What the device listed in Allow-Events when it registered. */
function registeredEvents(
  { location }: Pick<SwitchTools, 'location'>,
  { id }: SipUser,
  invite: IncomingInvite,
): readonly string[] {
  return location.contacts(id).find((contact) => isFromContact(contact, invite.source))?.allowEvents ?? [];
}

/** The user part of From if it is a name of the account, else the phone number. */
export function callerUser(from: string | undefined, { login, phonenumber }: SipUser): string {
  const user = parseSipUri(from ?? '')?.user;
  return user === login ? login : phonenumber;
}
