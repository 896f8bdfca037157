/** The header Referred-By, which names the party that asked for a transfer (RFC 3892 section 2.1). */
import type { DialogOpts } from '../../callstore/index.ts';
import { type IncomingInvite, parseSipUri } from '../../signalling/index.ts';
import { type Party, uriOf } from '../legs/party.ts';

/** An address with or without brackets, and the header's own parameters. */
const REFERRED_BY = /^((?:"(?:[^"\\]|\\.)*"\s*|[^"<>,;:]*)<[^<>\s]+>|[^\s"<>,;?]+)((?:\s*;[^<>,]*)?)$/;
/** The parameter that names a body part of the REFER, which is not passed on. */
const BODY_PART = /\s*;\s*cid\s*=\s*(?:"[^"]*"|[^\s;]*)/gi;

/** The header value to pass on; undefined when it holds no address. */
export function passedOn(value: string): string | undefined {
  const [, address = '', parameters = ''] = REFERRED_BY.exec(value.trim()) ?? [];
  if (address === '' || /\p{Cc}/u.test(value)) return undefined;
  return parseSipUri(address) === undefined ? undefined : address + parameters.replace(BODY_PART, '');
}

/** Referred-By for a phone's REFER: its own header, or without a usable one the URI of the phone's account. */
export function referrerOf({ referredBy }: { readonly referredBy: string | undefined }, party: Party): string {
  return (referredBy === undefined ? undefined : passedOn(referredBy)) ?? uriOf(party);
}

/** `opts` of a dialog with no other entry. */
export function referredOpts(referredBy: string | undefined): DialogOpts {
  return referredBy === undefined ? {} : { 'referred-by': referredBy };
}

/** `opts` from an incoming INVITE. */
export function referredInvite(invite: Pick<IncomingInvite, 'header'>): DialogOpts {
  return referredOpts(invite.header('Referred-By'));
}

/** Headers for an outgoing INVITE. */
export function referredHeader(referredBy: string | undefined): Readonly<Record<string, string>> {
  const value = referredBy === undefined ? undefined : passedOn(referredBy);
  return value === undefined ? {} : { 'Referred-By': value };
}
