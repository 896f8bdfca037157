/** Session descriptions of faxes by T.38 over UDPTL (ITU-T T.38 annex D). */
import { streamsOf } from './sdp-streams.ts';

/** A fax stream that is not refused. */
const FAX_LINE = /^m=image [1-9]\d*(?:\/\d+)? udptl t38\s*$/im;
const SOUND_LINE = /^m=audio ([1-9]\d*)(?:\/\d+)? /m;

/** Whether a description has a fax, and no sound beside it: of both, the sound is used. */
export function isFax(sdp: string): boolean {
  return FAX_LINE.test(sdp) && !SOUND_LINE.test(sdp);
}

/**
 * The fax that one far end offers, as an offer to the other: in the stream of its sound (RFC 3264 section 8.3.3), at the same port
 * of the media server.
 * @param own the description of the sound that the other far end has
 */
export function faxOffer(offer: string, own: string): string {
  const { session, streams } = streamsOf(own);
  const texts = streams.map(({ text, refusal }) => (SOUND_LINE.test(text) ? faxStream(offer, own) : refusal));
  return session + texts.join('');
}

/**
 * The answer to an offer of a fax.
 * @param own the description of the sound that the offerer has
 * @param accepted the answer of the other far end
 */
export function faxAnswer(offer: string, own: string, accepted: string): string {
  const { streams } = streamsOf(offer);
  const used = streams.findIndex(({ text }) => FAX_LINE.test(text));
  const texts = streams.map(({ refusal }, index) => (index === used ? faxStream(accepted, own) : refusal));
  return streamsOf(own).session + texts.join('');
}

/**
 * An offer of the sound again.
 * @param own the description of the sound
 * @param fax that of the fax, which may have more streams: an offer must not have fewer than before (RFC 3264 section 8)
 */
export function soundAfter(own: string, fax: string): string {
  const surplus = streamsOf(fax).streams.slice(streamsOf(own).streams.length);
  return own + surplus.map(({ refusal }) => refusal).join('');
}

/** The fax stream of a description, at the port of the sound of another. */
function faxStream(fax: string, own: string): string {
  const attributes = streamsOf(fax)
    .streams.find(({ text }) => FAX_LINE.test(text))
    ?.text.match(/^a=T38.*\r?\n/gim);
  return `m=image ${SOUND_LINE.exec(own)?.[1]} udptl t38\r\n${(attributes ?? []).join('')}`;
}
