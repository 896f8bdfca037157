/** IPv4 or IPv6: sound reaches a far end only from an address of its own family. */
import { isIP } from 'node:net';
import { isWildcard } from '../sip-facts/index.ts';
import { MediaError } from './media-error.ts';
import { isDtls, streamsOf } from './sdp-streams.ts';

/**
 * Checks that a far end's sound has the family of its channel, to whose address FreeSWITCH answers any offer. With ICE, the candidates
 * decide. A name, and the address of a hold (0.0.0.0, `::`), fit both.
 * @param shown the far end's session description as the media server gets it
 * @param local the channel's
 * @throws MediaError with status 488 (RFC 3261 sections 13.3.1.3, 14.2)
 */
export function mustHaveFamily(shown: string, local: string): void {
  if (isDtls(shown) && /^a=ice-ufrag:/m.test(shown)) return;
  const [own = ''] = addressesOf(local);
  const far = addressesOf(shown).filter((address) => isIP(address) !== 0 && !isWildcard(address));
  const [first] = far;
  if (first === undefined || isIP(own) === 0 || far.some((address) => isIP(address) === isIP(own))) return;
  throw new MediaError(
    `the session description has the address ${first}, but the media server has sound over IPv${isIP(own)} alone here`,
    488,
  );
}

/** The addresses of the audio that is used. */
function addressesOf(sdp: string): string[] {
  const { session, streams } = streamsOf(sdp);
  return streams
    .filter(({ kind }) => kind !== undefined)
    .flatMap(({ text }) => ADDRESS.exec(text)?.[1] ?? ADDRESS.exec(session)?.[1] ?? []);
}

const ADDRESS = /^c=IN IP[46] ([^\s/]+)/im;
