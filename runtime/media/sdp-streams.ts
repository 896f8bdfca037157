/** The streams of a session description, and which of them a policy for encryption allows. */
import { readCryptoLine } from '../sip-facts/index.ts';
import { MediaError } from './media-error.ts';

/**
 * Encryption of a leg's sound: `required` allows nothing else, `off` no encryption. `preferred` and undefined take what the far end
 * offers; of both, the encrypted stream. An offer to the far end is encrypted only for `required`, both for `preferred`, and plain
 * otherwise.
 */
export type SrtpPolicy = 'off' | 'preferred' | 'required';

/**
 * The header of the INVITE that creates a channel; the dialplan of `freeswitch-config/` sets the variable `rtp_secure_media` from it.
 * @param encrypted whether the far end has offered encrypted sound
 */
export function secureHeaders(policy: SrtpPolicy | undefined, encrypted: boolean): Record<string, string> {
  if (policy === 'required') return { 'X-Secure-Media': 'mandatory' };
  if (policy === 'off') return { 'X-Secure-Media': 'forbidden' };
  return encrypted || policy === 'preferred' ? { 'X-Secure-Media': 'optional' } : {};
}

/** Whether the audio of a session description is encrypted. */
export function isEncrypted(sdp: string): boolean {
  return /^m=audio [1-9]\d*(?:\/\d+)? \S*SAVP/m.test(sdp);
}

/** Reason phrases of refusals for the far end. */
const ENCRYPT = 'Encrypted Media Required';
const DO_NOT_ENCRYPT = 'Encrypted Media Not Allowed';
const NO_KEY = 'No Usable Key For Encrypted Media';

/** One stream. */
export interface Stream {
  readonly index: number;
  /** Its lines, without keys that cannot be used. */
  readonly text: string;
  /** The line that refuses it in an answer (RFC 3264 section 6). */
  readonly refusal: string;
  /** Of audio that is not refused or disabled; undefined for any other stream. */
  readonly kind: 'plain' | 'encrypted' | 'unusable' | undefined;
  /** Why it is unusable, as the end of a sentence. */
  readonly mistake: string;
}

/** Splits a session description; `session` are the lines before the first stream. */
export function streamsOf(sdp: string): { readonly session: string; readonly streams: readonly Stream[] } {
  const [session = '', ...texts] = sdp.split(/^(?=m=)/m);
  return { session, streams: texts.map(readStream) };
}

function readStream(text: string, index: number): Stream {
  const [, kind = '', port = '', profile = '', formats = ''] =
    /^m=(\S+)[ \t]+(\d+)(?:\/\d+)?[ \t]+(\S+)[ \t]*(.*?)\r?$/m.exec(text) ?? [];
  const refusal = `m=${kind} 0 ${profile} ${formats}\r\n`;
  const other = { index, text: text.replace(CRYPTO, ''), refusal, mistake: '' } as const;
  if (kind !== 'audio' || Number(port) === 0) return { ...other, kind: undefined };
  if (/\bSAVP/i.test(profile)) return readEncrypted(text, { index, refusal, profile });
  return { ...other, kind: 'plain' };
}

const CRYPTO = /^a=crypto:(.*?)\r?\n/gim;

function readEncrypted(text: string, known: { index: number; refusal: string; profile: string }): Stream {
  const { index, refusal, profile } = known;
  if (!/^RTP\/SAVPF?$/i.test(profile)) {
    return { index, text, refusal, kind: 'unusable', mistake: `encrypted media by ${profile} is not supported` };
  }
  const mistakes: string[] = [];
  const usable = text.replace(CRYPTO, (line, value: string) => {
    const read = readCryptoLine(value);
    if (typeof read !== 'string') return line;
    mistakes.push(`its a=crypto ${read}`);
    return '';
  });
  const has = usable.search(CRYPTO) >= 0;
  const mistake = `the offer of encrypted media has no usable key: ${mistakes.join(', ') || 'it has no a=crypto'}`;
  return { index, text: usable, refusal, kind: has ? 'encrypted' : 'unusable', mistake };
}

/**
 * The streams for the media server: all that are no audio, and the audio that is used.
 * @throws MediaError with status 488 when there is audio, and none that may be used
 */
export function usedStreams(streams: readonly Stream[], policy: SrtpPolicy | undefined): readonly Stream[] {
  const audio = streams.filter(({ kind }) => kind !== undefined);
  if (audio.length === 0) return streams;
  const kind = usedKind(audio, policy);
  return streams.filter((each) => each.kind === undefined || each.kind === kind);
}

function usedKind(audio: readonly Stream[], policy: SrtpPolicy | undefined): Stream['kind'] {
  const has = (kind: Stream['kind']): boolean => audio.some((each) => each.kind === kind);
  if (policy !== 'off' && has('encrypted')) return 'encrypted';
  if (policy !== 'required' && has('plain')) return 'plain';
  const mistake = audio.find(({ kind }) => kind === 'unusable')?.mistake;
  if (policy === 'off') throw refused('the offer has encrypted media only, and security.srtp is off', DO_NOT_ENCRYPT);
  if (mistake !== undefined) throw refused(mistake, NO_KEY);
  throw refused('the offer has plain media only, and security.srtp is required', ENCRYPT);
}

function refused(message: string, phrase: string): MediaError {
  return new MediaError(message, 488, { phrase });
}
