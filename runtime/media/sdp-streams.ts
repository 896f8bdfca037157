/** The streams of a session description, and which of them a policy for encryption allows. */
import { readCryptoLine } from '../sip-facts/index.ts';
import { MediaError } from './media-error.ts';

/**
 * Encryption of a leg's sound: `required` allows nothing else, `off` no encryption. `preferred` and undefined take what the far end
 * offers; of both, the encrypted stream. An offer to the far end is encrypted only for `required`, both for `preferred`, and plain
 * otherwise.
 */
export type SrtpPolicy = 'off' | 'preferred' | 'required';

/** The keys in an offer of encrypted sound: SDES, DTLS, or DTLS with ICE, without which browsers take nothing. */
export type OfferedKeys = 'sdes' | 'dtls' | 'webrtc';

/** What the streams of a far end are held to. */
export interface StreamPolicy {
  readonly srtp?: SrtpPolicy | undefined;
  /** The keys that it was offered; undefined where it made the first offer, whose keys it chooses. */
  readonly keys?: OfferedKeys | undefined;
}

/** Whether an offer has encrypted sound alone. */
export function mustEncrypt({ srtp, keys }: StreamPolicy): boolean {
  return keys === 'webrtc' || srtp === 'required';
}

/** Whether the audio of a session description is encrypted. */
export function isEncrypted(sdp: string): boolean {
  return /^m=audio [1-9]\d*(?:\/\d+)? \S*SAVP/im.test(sdp);
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
  readonly kind: 'plain' | 'sdes' | 'dtls' | 'unusable' | undefined;
  /** Why it is unusable, as the end of a sentence. */
  readonly mistake: string;
}

/** Whether the keys of the audio are made by DTLS. */
export function isDtls(sdp: string): boolean {
  return isEncrypted(sdp) && /^a=fingerprint:/m.test(sdp);
}

/** Splits a session description; `session` are the lines before the first stream. */
export function streamsOf(sdp: string): { readonly session: string; readonly streams: readonly Stream[] } {
  const [session = '', ...texts] = sdp.split(/^(?=m=)/m);
  return { session, streams: texts.map((text, index) => readStream(text, session, index)) };
}

function readStream(text: string, session: string, index: number): Stream {
  const [, kind = '', port = '', profile = '', formats = ''] =
    /^m=(\S+)[ \t]+(\d+)(?:\/\d+)?[ \t]+(\S+)[ \t]*(.*?)\r?$/m.exec(text) ?? [];
  const refusal = `m=${kind} 0 ${profile} ${formats}\r\n`;
  const other = { index, text: text.replace(CRYPTO, ''), refusal, mistake: '' } as const;
  if (kind !== 'audio' || Number(port) === 0) return { ...other, kind: undefined };
  if (/\bSAVP/i.test(profile)) return readEncrypted(text, session, { index, refusal, profile });
  return { ...other, kind: 'plain' };
}

const CRYPTO = /^a=crypto:(.*?)\r?\n/gim;

const NO_USABLE_KEY = 'the encrypted media of the session description has no usable key:';

/** Why a description with keys by DTLS is unusable, as the end of a sentence; undefined for a usable one. */
function dtlsMistake(text: string): string | undefined {
  const lead = NO_USABLE_KEY;
  if (!/^a=fingerprint:/m.test(text)) return `${lead} it has no a=fingerprint`;
  if (!/^a=fingerprint:sha-(?:256|512) [\dA-F]{2}(?::[\dA-F]{2})+\s*$/im.test(text)) {
    return `${lead} its a=fingerprint is malformed, or of another hash than SHA-256 and -512`;
  }
  const setup = /^a=setup:(\S+)/m.exec(text)?.[1];
  if (setup === undefined || setup === 'actpass' || setup === 'active') return undefined;
  return `${lead} a=setup:${setup}, but the media server is the server of DTLS`;
}

function readEncrypted(
  text: string,
  session: string,
  known: { index: number; refusal: string; profile: string },
): Stream {
  const { index, refusal, profile } = known;
  if (!/^(?:UDP\/TLS\/)?RTP\/SAVPF?$/i.test(profile)) {
    return { index, text, refusal, kind: 'unusable', mistake: `encrypted media by ${profile} is not supported` };
  }
  const dtls = dtlsMistake(session + text);
  if (dtls === undefined) return { index, text: text.replace(CRYPTO, ''), refusal, kind: 'dtls', mistake: '' };
  if (/^UDP/i.test(profile)) return { index, text, refusal, kind: 'unusable', mistake: dtls };
  const mistakes: string[] = [];
  const usable = text.replace(CRYPTO, (line, value: string) => {
    const read = readCryptoLine(value);
    if (typeof read !== 'string') return line;
    mistakes.push(`its a=crypto ${read}`);
    return '';
  });
  const has = usable.search(CRYPTO) >= 0;
  const mistake = `${NO_USABLE_KEY} ${mistakes.join(', ') || 'it has no a=crypto'}`;
  return { index, text: usable, refusal, kind: has ? 'sdes' : 'unusable', mistake };
}

/**
 * The streams for the media server: all that are no audio, and the audio that is used.
 * @throws MediaError with status 488 when there is audio, and none that may be used
 */
export function usedStreams(streams: readonly Stream[], policy: StreamPolicy): readonly Stream[] {
  const audio = streams.filter(({ kind }) => kind !== undefined);
  if (audio.length === 0) return streams;
  const kind = usedKind(audio, policy);
  return streams.filter((each) => each.kind === undefined || each.kind === kind);
}

function usedKind(audio: readonly Stream[], policy: StreamPolicy): Stream['kind'] {
  const has = (kind: Stream['kind']): boolean => audio.some((each) => each.kind === kind);
  const { srtp, keys } = policy;
  const offeredDtls = keys === 'dtls' || keys === 'webrtc';
  if (srtp !== 'off' && has('dtls')) return 'dtls';
  if (srtp !== 'off' && !offeredDtls && has('sdes')) return 'sdes';
  if (!mustEncrypt(policy) && has('plain')) return 'plain';
  const mistake = audio.find(({ kind }) => kind === 'unusable')?.mistake;
  if (srtp === 'off') throw refused('the offer has encrypted media only, and security.srtp is off', DO_NOT_ENCRYPT);
  if (mistake !== undefined) throw refused(mistake, NO_KEY);
  if (has('sdes')) throw refused('the answer has keys by SDES, and keys by DTLS were offered', NO_KEY);
  if (offeredDtls)
    throw refused('the answer has plain media, and encrypted media with keys by DTLS was offered', ENCRYPT);
  throw refused('the session description has plain media only, and security.srtp is required', ENCRYPT);
}

function refused(message: string, phrase: string): MediaError {
  return new MediaError(message, 488, { phrase });
}
