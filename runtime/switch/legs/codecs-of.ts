/** Codecs of a party. */
import type { Directory } from '../../domain/index.ts';
import type { CodecName } from '../../media/index.ts';
import type { Party } from './party.ts';

/** `opts.codecs` of a sipuser or provider, or else of its domain; undefined where nothing is said. */
export function codecsOf(directory: Pick<Directory, 'domain'>, party: Party): readonly CodecName[] | undefined {
  const own =
    party.kind === 'sipuser' ? party.sipUser.codecs : party.kind === 'provider' ? party.provider.codecs : undefined;
  return own ?? directory.domain(party.domain)?.codecs;
}
