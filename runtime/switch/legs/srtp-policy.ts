/** Encryption of the sound of a party. */
import type { Directory } from '../../domain/index.ts';
import type { SrtpPolicy } from '../../media/index.ts';
import type { Party } from './party.ts';

/** `security.srtp` of a sipuser, or else of its domain, `opts.srtp` of a provider; undefined for other parties. */
export function srtpOf(directory: Pick<Directory, 'domain'>, party: Party): SrtpPolicy | undefined {
  if (party.kind === 'provider') return party.provider.srtp;
  if (party.kind !== 'sipuser') return undefined;
  return party.sipUser.srtp ?? directory.domain(party.domain)?.srtp;
}

/** Whether a contact is a browser's: they speak SIP by WebSocket alone (RFC 7118), and take keys by DTLS alone (RFC 8827). */
export function isBrowser({ uri }: { readonly uri: string }): boolean {
  return /;transport=wss?(?:[;>?]|$)/i.test(uri);
}
