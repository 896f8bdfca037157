/** Adapts session descriptions for the media server. */
import { MediaError } from './media-error.ts';

/** Lines that offer ICE (RFC 8839) or keys for encrypted media (RFC 4568, RFC 5763). */
const NOT_DONE =
  /^a=(?:candidate|remote-candidates|end-of-candidates|ice-[a-z]+|crypto|fingerprint|setup|tls-id)\b.*\r?\n/gim;

const ENCRYPTED_AUDIO = /^m=audio [1-9]\d* \S*SAVP/m;

/** The profile for early feedback (RFC 4585): only the answer has to repeat it. */
const QUICK_REPORTS = /^(m=audio \d+(?:\/\d+)?) RTP\/AVPF(?= )/gim;

/**
 * Letters beyond ASCII, and percent signs that read as encoded octets. FreeSWITCH sends the description to drachtio-modesl, which
 * decodes it by `decodeURIComponent`: octets that are not UTF-8 end the process, as nothing can catch that error.
 */
const NOT_DECODABLE = /[^\0-\x7f]|%(?=[\dA-Fa-f]{2})/g;

/**
 * A far end's session description as the media server is to read it. ICE is never done here: sound goes to where the far end's
 * comes from. Left to itself FreeSWITCH refuses the sound of a phone that offers ICE, as none of its candidates suits; whoever
 * leaves the lines alone does without ICE (RFC 8839 section 4.2.5). `RTP/AVPF` is `RTP/AVP` here: FreeSWITCH answers it by that,
 * or refuses it where it offered that itself; see `inProfileOf`.
 * @throws MediaError with status 488 when the sound is to be encrypted, which drachtio-fsmrf takes for a mistake of its caller
 */
export function farEndSdp(sdp: string): string {
  if (ENCRYPTED_AUDIO.test(sdp)) throw new MediaError('the phone wants encrypted sound, which is not done here', 488);
  return sdp.replace(NOT_DONE, '').replace(QUICK_REPORTS, '$1 RTP/AVP').replace(NOT_DECODABLE, '?');
}

/**
 * The media server's answer with the profile of the offer (RFC 3264 section 6.1, RFC 4585 section 4.1). An answer may
 * omit streams, so the offered stream is identified by its kind alone.
 */
export function inProfileOf(offer: string, answer: string): string {
  const profile = /^m=audio [1-9]\d*(?:\/\d+)? (\S+)/m.exec(offer)?.[1];
  return profile === undefined ? answer : answer.replace(/^(m=audio [1-9]\d*) \S+/m, `$1 ${profile}`);
}
