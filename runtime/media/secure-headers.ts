/** Headers of the INVITE that creates a channel: whether its sound is encrypted, and how. */
import { isDtls, isEncrypted, mustEncrypt, type OfferedKeys, type SrtpPolicy } from './sdp-streams.ts';

/** Which keys a channel uses or offers; undefined leaves it to the media server. */
type Keys = 'mandatory' | 'optional' | 'dtls' | 'offer-mandatory' | 'offer-optional' | 'offer-dtls' | undefined;

type Headers = Readonly<Record<string, string>>;

/** Headers for the answer to an offer. */
export function secureHeaders(sdp: string, policy: SrtpPolicy | undefined): Headers {
  if (isDtls(sdp)) return secureMedia('dtls');
  if (policy === 'required') return secureMedia('mandatory');
  return secureMedia(isEncrypted(sdp) ? 'optional' : undefined);
}

/** Headers for an offer. */
export function secureOfferHeaders(wish: {
  readonly srtp?: SrtpPolicy | undefined;
  readonly keys?: OfferedKeys | undefined;
}): Headers {
  const must = mustEncrypt(wish);
  if (!must && wish.srtp !== 'preferred') return {};
  if (wish.keys === 'webrtc') return secureMedia('offer-dtls');
  // Of the second header FreeSWITCH takes no notice: it offers plain sound, which is refused where it has to be encrypted.
  if (wish.keys === 'dtls') return { ...secureMedia('dtls'), 'X-Dtls-Offer': must ? 'mandatory' : 'optional' };
  return secureMedia(must ? 'offer-mandatory' : 'offer-optional');
}

/** For FreeSWITCH the value names a user of its configuration, whose variables the channel gets. */
function secureMedia(keys: Keys): Headers {
  return keys === undefined ? {} : { 'X-Secure-Media': `${keys}@keys` };
}
