/** Parties to call, and the addresses at which they are called. */
import type { ContactBinding, Gateway, SipUser } from '../../domain/index.ts';
import { ANONYMOUS, type SipCredentials } from '../../signalling/index.ts';
import { nextHopOf } from './next-hop.ts';
import type { Party } from '../legs/party.ts';

/** An address at which a callee is called. */
export interface CalleeAddress {
  /** Request-URI. */
  readonly uri: string;
  /** Where the request is sent; undefined: to the address in the URI. */
  readonly nextHop: string | undefined;
  /** Value of Route: the proxies on the way (RFC 3327). */
  readonly route?: string | undefined;
  /** Name of the SIP server that reaches it; absent: any. */
  readonly via?: string | undefined;
  /** Event packages that a device listed when it registered, lower case. */
  readonly allowEvents?: readonly string[];
  /** The gateway of a provider that this is. */
  readonly gateway?: Gateway;
}

/** A party in From. */
interface ShownParty {
  readonly number: string;
  readonly name: string | undefined;
  readonly host: string;
}

/** The caller of a call that shows none. */
export const ANONYMOUS_CALLER: ShownParty = { number: ANONYMOUS, name: undefined, host: 'anonymous.invalid' };

/** A party to call: a sipuser at its registered contacts, or a number behind a provider. */
export interface Callee {
  /** Id of the account. One call rings each account once, however often it is forwarded. */
  readonly account: string;
  readonly party: Party;
  /** User part of To. */
  readonly called: string;
  /** Host of To. */
  readonly host: string;
  readonly addresses: readonly CalleeAddress[];
  /** True: one address after the other is called, while nobody answers. Default: all at once. */
  readonly inTurn?: boolean;
  /** The caller to show to the callee, where the caller's own number and domain must stay hidden. */
  readonly caller?: ShownParty;
  /** Headers of the INVITE that name the caller, or withhold the name. */
  readonly identity?: Readonly<Record<string, string>>;
  /** The telephone numbers of the call, where it is to be signed; each is undefined when it is none. */
  readonly signed?: { readonly orig: string | undefined; readonly dest: string | undefined } | undefined;
  readonly credentials?: SipCredentials;
}

/**
 * A sipuser at its registered contacts.
 * @param dialled by the caller: a dialled login is called by that login, everything else by the phone number
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
  const { contact: uri, server: via, allowEvents, path = [] } = binding;
  return { uri, nextHop: nextHopOf(binding), ...(path.length > 0 && { route: path.join(', ') }), via, allowEvents };
}
