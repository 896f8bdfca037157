/** Adapts session descriptions for the media server. */
import { MediaError } from './media-error.ts';

/** Lines of unsupported features: ICE (RFC 8839), keys for encrypted media (RFC 4568, RFC 5763). */
const UNSUPPORTED_LINES =
  /^a=(?:candidate|remote-candidates|end-of-candidates|ice-[a-z]+|crypto|fingerprint|setup|tls-id)\b.*\r?\n/gim;

const ENCRYPTED_AUDIO = /^m=audio [1-9]\d* \S*SAVP/m;

/** The profile for early feedback (RFC 4585): only the answer has to repeat it. */
const EARLY_FEEDBACK = /^(m=audio \d+(?:\/\d+)?) RTP\/AVPF(?= )/gim;

/**
 * Letters beyond ASCII, and percent signs that read as encoded octets. FreeSWITCH sends the description to drachtio-modesl, which
 * decodes it by `decodeURIComponent`: octets that are not UTF-8 end the process, as nothing can catch that error.
 */
const NOT_DECODABLE = /[^\0-\x7f]|%(?=[\dA-Fa-f]{2})/g;

/**
 * A far end's session description, adapted for the media server. ICE is removed: media is sent to the source of the far
 * end's media, and FreeSWITCH would refuse the audio because none of the candidates fits; an answerer may ignore ICE
 * (RFC 8839 section 4.2.5). `RTP/AVPF` becomes `RTP/AVP`: FreeSWITCH answers with that, or refuses it in answers; see
 * `inProfileOf`.
 * @throws MediaError with status 488 for encrypted media, which drachtio-fsmrf treats as a caller's mistake
 */
export function farEndSdp(sdp: string): string {
  if (ENCRYPTED_AUDIO.test(sdp)) throw new MediaError('encrypted media (SRTP) is not supported', 488);
  return sdp.replace(UNSUPPORTED_LINES, '').replace(EARLY_FEEDBACK, '$1 RTP/AVP').replace(NOT_DECODABLE, '?');
}

/**
 * The media server's answer with the profile of the offer (RFC 3264 section 6.1, RFC 4585 section 4.1). An answer may
 * omit streams, so the offered stream is identified by its kind alone.
 */
export function inProfileOf(offer: string, answer: string): string {
  const profile = /^m=audio [1-9]\d*(?:\/\d+)? (\S+)/m.exec(offer)?.[1];
  return profile === undefined ? answer : answer.replace(/^(m=audio [1-9]\d*) \S+/m, `$1 ${profile}`);
}
