/** Settings for encrypted sound: `srtp` and `srtp_keys` of domains, sipusers and providers. */
import type { Srtp, SrtpKeys } from '../directory.ts';
import { InvalidFieldError } from '../errors.ts';

const SRTP: readonly Srtp[] = ['required', 'preferred', 'off'];
const KEYS: readonly SrtpKeys[] = ['sdes', 'dtls'];

/**
 * Checks the values in the `opts` of a provider, which have no schema.
 * @throws InvalidFieldError
 */
export function checkSrtp({ srtp, srtp_keys: keys }: Readonly<Record<string, unknown>>): void {
  if (srtp !== undefined && !SRTP.includes(srtp as Srtp))
    throw new InvalidFieldError('provider', 'opts.srtp', `must be ${SRTP.join(', ')}`, srtp);
  if (keys !== undefined && !KEYS.includes(keys as SrtpKeys))
    throw new InvalidFieldError('provider', 'opts.srtp_keys', `must be ${KEYS.join(' or ')}`, keys);
}

/**
 * Refuses keys by DTLS without encrypted sound in the same entity: calls would be in clear.
 * @throws InvalidFieldError
 */
export function checkSrtpKeys(entity: string, field: string, settings: unknown): void {
  const { srtp, srtp_keys: keys } = settings as { readonly srtp?: Srtp; readonly srtp_keys?: SrtpKeys };
  if (keys !== 'dtls' || srtp === 'required' || srtp === 'preferred') return;
  const found = srtp === undefined ? 'it is absent' : `it is ${srtp}`;
  throw new InvalidFieldError(
    entity,
    `${field}.srtp_keys`,
    `dtls needs ${field}.srtp required or preferred, and ${found}`,
    keys,
  );
}
