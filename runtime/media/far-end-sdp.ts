/** Adapts session descriptions for the media server. */
import { type CodecWish, withBestCodec } from './codec-order.ts';
import { inNameOf, withCandidate } from './dtls-sdp.ts';
import { MediaError } from './media-error.ts';
import { isDtls, type StreamPolicy, streamsOf, usedStreams } from './sdp-streams.ts';

/** Lines of ICE (RFC 8839) and of keys by DTLS (RFC 5763), which belong to each other. */
const DTLS_AND_ICE =
  /^a=(?:candidate|remote-candidates|end-of-candidates|ice-[a-z]+|fingerprint|setup|tls-id)\b.*(?:\r?\n|$)/gim;

/** Fingerprints by other hashes, beside a usable one: FreeSWITCH takes the last of all, and crashes at a hash that it does not know. */
const OTHER_FINGERPRINTS = /^a=fingerprint:(?!sha-(?:256|512) ).*(?:\r?\n|$)/gim;

/** The profiles for early feedback (RFC 4585, RFC 5124): only the answer has to repeat them. */
const EARLY_FEEDBACK = /^(m=audio \d+(?:\/\d+)? RTP\/S?AVP)F(?= )/gim;

/**
 * The profiles of encrypted sound. drachtio-fsmrf refuses them in capitals, as it waits for a channel before the far end gets its answer;
 * in small letters, which mean the same to both media servers, it lets them through.
 */
const SECURE_PROFILE = /(?<=^m=audio \d+(?:\/\d+)? )\S*SAVPF?(?= )/gm;

/**
 * Letters beyond ASCII, and percent signs that read as encoded octets. FreeSWITCH sends the description to drachtio-modesl, which
 * decodes it by `decodeURIComponent`: octets that are not UTF-8 end the process, as nothing can catch that error.
 */
const NOT_DECODABLE = /[^\0-\x7f]|%(?=[\dA-Fa-f]{2})/g;

/**
 * A far end's session description, adapted for the media server. Of its audio, either the encrypted or the plain streams are left.
 * ICE is removed unless the keys are by DTLS: media is sent to the source of the far end's media, and FreeSWITCH would refuse the
 * audio because none of the candidates fits; an answerer may ignore ICE (RFC 8839 section 4.2.5). `RTP/AVPF` becomes `RTP/AVP`:
 * FreeSWITCH answers with that, or refuses it in answers; see `answerFor`.
 * @param codecs its wanted codecs
 * @throws MediaError with status 488 for other text, without audio that the policy allows, or without a usable key
 */
export function farEndSdp(sdp: string, policy: StreamPolicy = {}, codecs?: CodecWish): string {
  // A SIP server refuses to send anything else without a Content-Type, which would look like a fault of the media server.
  if (!sdp.startsWith('v=0')) throw new MediaError('the session description does not begin with v=0 (RFC 8866)', 488);
  // A single CR ends a line for FreeSWITCH, too.
  const { session, streams } = streamsOf(sdp.replace(/\r\n?|\n/g, '\r\n'));
  const used = usedStreams(streams, policy);
  const shown = withBestCodec(session + used.map(({ text }) => text).join(''), codecs);
  const plain = used.some(({ kind }) => kind === 'dtls')
    ? withCandidate(shown).replace(OTHER_FINGERPRINTS, '')
    : shown.replace(DTLS_AND_ICE, '').replace(EARLY_FEEDBACK, '$1');
  return plain.replace(SECURE_PROFILE, (profile) => profile.toLowerCase()).replace(NOT_DECODABLE, '?');
}

/**
 * The media server's answer as the far end expects it: with the profile of the offer (RFC 3264 section 6.1, RFC 4585 section 4.1), and
 * a refusal of each audio stream that the media server was not shown.
 */
export function answerFor(offer: string, answer: string, policy: StreamPolicy = {}): string {
  const { session, streams } = streamsOf(offer);
  const used = new Set(usedStreams(streams, policy).map(({ index }) => index));
  const unseen = streams.filter(({ index }) => !used.has(index));
  if (unseen.length === 0) return inFormOf(offer, answer);
  const answered = streamsOf(answer);
  const answers = [...answered.streams];
  const complete = streams.map(
    ({ index, refusal }) => (used.has(index) ? answers.shift()?.text : undefined) ?? refusal,
  );
  const shown = streams.filter(({ index }) => used.has(index)).map(({ text }) => text);
  return inFormOf(session + shown.join(''), answered.session + complete.join(''));
}

function inFormOf(offer: string, answer: string): string {
  const profiled = inProfileOf(offer, answer);
  return isDtls(profiled) ? inNameOf(offer, profiled) : profiled;
}

/** An answer may omit streams, so the offered stream is identified by its kind alone. */
export function inProfileOf(offer: string, answer: string): string {
  const profile = /^m=audio [1-9]\d*(?:\/\d+)? (\S+)/m.exec(offer)?.[1];
  return profile === undefined ? answer : answer.replace(/^(m=audio [1-9]\d*) \S+/m, `$1 ${profile}`);
}
