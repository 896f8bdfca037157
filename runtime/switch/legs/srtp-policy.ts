/** Encryption of the sound of a party. */
import type { Directory } from '../../domain/index.ts';
import type { OfferedKeys, SrtpPolicy } from '../../media/index.ts';
import type { Party } from './party.ts';

type Domains = Pick<Directory, 'domain'>;

/** `security.srtp` of a sipuser, or else of its domain, `opts.srtp` of a provider; undefined for other parties. */
export function srtpOf(directory: Domains, party: Party): SrtpPolicy | undefined {
  if (party.kind === 'provider') return party.provider.srtp;
  if (party.kind !== 'sipuser') return undefined;
  return party.sipUser.srtp ?? directory.domain(party.domain)?.srtp;
}

/** The encryption that an address of a called party is offered. */
export function offeredTo(
  directory: Domains,
  party: Party,
  address: { readonly uri: string },
): { readonly srtp: SrtpPolicy | undefined; readonly keys: OfferedKeys } {
  const srtp = srtpOf(directory, party);
  if (srtp !== 'off' && isBrowser(address)) return { srtp, keys: 'webrtc' };
  return { srtp, keys: keysFor(directory, party) ?? 'sdes' };
}

/** `srtp_keys` where `srtp` stands. */
function keysFor(directory: Domains, party: Party): OfferedKeys | undefined {
  if (party.kind === 'provider') return party.provider.srtpKeys;
  if (party.kind !== 'sipuser') return undefined;
  return party.sipUser.srtpKeys ?? directory.domain(party.domain)?.srtpKeys;
}

/** Whether a contact is a browser's: they speak SIP by WebSocket alone (RFC 7118), and take keys by DTLS alone (RFC 8827). */
function isBrowser({ uri }: { readonly uri: string }): boolean {
  return /;transport=wss?(?:[;>?]|$)/i.test(uri);
}
