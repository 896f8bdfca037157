import type { ContactBinding, SipUser } from '../../domain/index.ts';
import type { SipCredentials } from '../../signalling/index.ts';
import { nextHopOf } from './next-hop.ts';
import type { Party } from '../legs/party.ts';

/** Where a callee can be reached. */
export interface CalleeAddress {
  /** Request-URI. */
  readonly uri: string;
  /** Where the request goes when that is not what the URI says. */
  readonly nextHop: string | undefined;
  /** Name of the SIP server that it is reached by; absent: any. */
  readonly via?: string | undefined;
  /** Event packages that a device listed when it registered, lower case. */
  readonly allowEvents?: readonly string[];
}

/** Somebody who can be called: an account at its registered contacts, a number behind a provider. */
export interface Callee {
  /** Names the account: nobody is called twice in one call, however often it is forwarded. */
  readonly account: string;
  readonly party: Party;
  /** User part of To. */
  readonly called: string;
  /** Host of To. */
  readonly host: string;
  readonly addresses: readonly CalleeAddress[];
  /** Who calls, where the callee must not see the caller's own number and domain. */
  readonly caller?: { readonly number: string; readonly host: string };
  readonly credentials?: SipCredentials;
}

/**
 * A sipuser at its registered contacts.
 * @param dialled what the caller dialled: whoever was dialled by login is called by login, everybody else by number
 */
export function sipUserCallee(sipUser: SipUser, contacts: readonly ContactBinding[], dialled?: string): Callee {
  return {
    account: sipUser.id,
    party: { kind: 'sipuser', domain: sipUser.domain, sipUser },
    called: dialled === sipUser.login ? sipUser.login : sipUser.phonenumber,
    host: sipUser.domain,
    addresses: contacts.map(contactAddress),
  };
}

/** A registered contact as an address. */
export function contactAddress(binding: ContactBinding): CalleeAddress {
  return { uri: binding.contact, nextHop: nextHopOf(binding), via: binding.server, allowEvents: binding.allowEvents };
}
