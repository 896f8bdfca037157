import type { DialogOpts } from '../../callstore/index.ts';
import { type IncomingInvite, parseSipUri } from '../../signalling/index.ts';
import { type Party, uriOf } from '../legs/party.ts';

/** Who wanted a call that a transfer makes: the header Referred-By (RFC 3892 section 2.1). */

/** An address with or without brackets, and the header's own parameters. */
const REFERRED_BY = /^((?:"(?:[^"\\]|\\.)*"\s*|[^"<>,;:]*)<[^<>\s]+>|[^\s"<>,;?]+)((?:\s*;[^<>,]*)?)$/;
/** Names a body part of the REFER, which goes no further. */
const TOKEN = /\s*;\s*cid\s*=\s*(?:"[^"]*"|[^\s;]*)/gi;

/** A value as it is passed on; undefined when it is no address. */
export function passedOn(value: string): string | undefined {
  const [, address = '', parameters = ''] = REFERRED_BY.exec(value.trim()) ?? [];
  if (address === '' || /\p{Cc}/u.test(value)) return undefined;
  return parseSipUri(address) === undefined ? undefined : address + parameters.replace(TOKEN, '');
}

/** Who wants the transfer by what the REFER of a phone says; when that is nothing or no address, the phone's account. */
export function referrerOf({ referredBy }: { readonly referredBy: string | undefined }, party: Party): string {
  return (referredBy === undefined ? undefined : passedOn(referredBy)) ?? uriOf(party);
}

/** `opts` of the dialog that a call makes which wants nothing else. */
export function referredOpts(referredBy: string | undefined): DialogOpts {
  return referredBy === undefined ? {} : { 'referred-by': referredBy };
}

/** Of an INVITE that comes in. */
export function referredInvite(invite: IncomingInvite): DialogOpts {
  return referredOpts(invite.header('Referred-By'));
}

/** The header of an INVITE that goes out. */
export function referredHeader(referredBy: string | undefined): Readonly<Record<string, string>> {
  const value = referredBy === undefined ? undefined : passedOn(referredBy);
  return value === undefined ? {} : { 'Referred-By': value };
}
