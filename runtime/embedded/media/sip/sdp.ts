/** Session descriptions: reads offers and answers, and writes the server's. */
import { isIPv6 } from 'node:net';
import { parse, type MediaDescription, type SessionDescription } from 'sdp-transform';
import { type CryptoLine, plainAddress, readCryptoLine, writeCryptoLine } from '../../../sip-facts/index.ts';
import { isWildcard } from '../../stack/index.ts';
import {
  codecLines,
  type DescribedCodec,
  type DescribedEvent,
  eventLines,
  OFFERED_FORMATS,
  offeredCodecLines,
  readCodecs,
  readEvents,
} from './codec-lines.ts';
import {
  answering,
  answeringSession,
  type DtlsForm,
  dtlsLines,
  ICE_SESSION,
  type LocalDtls,
  OFFER_WITH_ICE,
  OFFER_WITHOUT_ICE,
  readDtls,
  type RemoteDtlsLines,
} from './dtls-lines.ts';
import { readFax, type RemoteFax } from './fax-lines.ts';
import type { LocalKeys } from './local-keys.ts';

/** Direction attributes (RFC 3264 section 5.1). */
export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

const OPPOSITE: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
};

/** Longest accepted description. */
const MAX_SDP_BYTES = 32_768;

/** The used audio stream of a far end's description. */
export interface RemoteAudio {
  /** Index of its m= line. */
  readonly index: number;
  readonly address: string;
  readonly port: number;
  /** The far end's direction. */
  readonly direction: Direction;
  /** The server's codecs that the far end supports, in the server's order: the first is used. */
  readonly codecs: readonly DescribedCodec[];
  readonly telephoneEvent: DescribedEvent | undefined;
  /** The first usable key of an encrypted stream (RTP/SAVP). */
  readonly crypto: CryptoLine | undefined;
  /** Of a stream with keys by DTLS. */
  readonly dtls: RemoteDtlsLines | undefined;
}

/** A far end's session description. */
export interface RemoteDescription {
  /** As received. */
  readonly text: string;
  /** Undefined when it has no audio over RTP, or over SRTP with a usable key. */
  readonly audio: RemoteAudio | undefined;
  readonly fax: RemoteFax | undefined;
  /** Kind, protocol and formats of every m= line, to answer each one (RFC 3264 section 6). */
  readonly media: readonly { readonly type: string; readonly protocol: string; readonly formats: string }[];
}

/** Reason phrase of the 400 to an invalid session description. */
export const BAD_DESCRIPTION = 'Bad Session Description';

/** Reads an offer or answer; undefined when it is invalid, or lacks origin or addresses (RFC 4566 section 5). */
export function readDescription(text: string): RemoteDescription | undefined {
  if (text.length > MAX_SDP_BYTES || !/^v=0\s*$/m.test(text)) return undefined;
  let session: SessionDescription;
  try {
    session = parse(withPlainMediaLines(text));
  } catch {
    return undefined; // sdp-transform throws on some malformed attribute values
  }
  // sdp-transform silently leaves out unreadable parts of an m= line.
  if (session.media.some((each: Partial<MediaDescription>) => each.type === undefined)) return undefined;
  const addressed = session.connection !== undefined || session.media.every((each) => each.connection !== undefined);
  if (session.origin === undefined || !addressed) return undefined;
  const media = session.media.map((each) => ({
    type: each.type,
    protocol: each.protocol,
    formats: asText(each.payloads),
  }));
  return { text, media, audio: chooseAudio(session, keysOf(text)), fax: readFax(session, text) };
}

/** Removes the number of ports (RFC 4566 section 5.14) and double blanks, which sdp-transform cannot read. */
function withPlainMediaLines(text: string): string {
  return text.replace(
    /^m=(\S+)[ \t]+(\d+)(?:\/\d+)?[ \t]+(\S+)[ \t]*(.*)$/gm,
    (_line, type: string, port: string, protocol: string, formats: string) =>
      `m=${type} ${port} ${protocol} ${formats.trim().replace(/[ \t]+/g, ' ')}`,
  );
}

/** What a stream says of its encryption. */
interface StreamKeys {
  /** Values of its `a=crypto` lines; sdp-transform drops parts of them. */
  readonly crypto: readonly string[];
  readonly dtls: RemoteDtlsLines | undefined;
}

function keysOf(text: string): StreamKeys[] {
  const [session = '', ...streams] = text.split(/^m=/m);
  return streams.map((stream) => ({
    crypto: [...stream.matchAll(/^a=crypto:(.*?)\r?$/gm)].map((match) => match[1] as string),
    dtls: readDtls(session, stream),
  }));
}

/** The first audio stream with a codec of the server, or else the first audio stream. */
function chooseAudio(session: SessionDescription, keys: readonly StreamKeys[]): RemoteAudio | undefined {
  const contradicts = session.media.some((line, index) => isPlain(line) && keys[index]?.crypto.length !== 0);
  // As in FreeSWITCH: keys for an unencrypted stream are a contradiction (RFC 4568 section 6).
  if (contradicts) return undefined;
  const usable = session.media.flatMap((line, index) => {
    if (isPlain(line)) return [readAudio(session, line, index, {})];
    if (!isSecure(line)) return [];
    const dtls = keys[index]?.dtls;
    const crypto = dtls === undefined && !isTls(line) ? firstKey(keys[index]?.crypto ?? []) : undefined;
    return dtls === undefined && crypto === undefined ? [] : [readAudio(session, line, index, { crypto, dtls })];
  });
  return usable.find(({ codecs }) => codecs.length > 0) ?? usable[0];
}

/** The first usable key: the far end prefers it (RFC 4568 section 5.1.1). */
function firstKey(values: readonly string[]): CryptoLine | undefined {
  return values.map(readCryptoLine).find((line): line is CryptoLine => typeof line !== 'string');
}

/** sdp-transform returns a single format, or an address without dots, as a number, contrary to its types. */
function asText(value: string | number | undefined): string {
  return String(value ?? '');
}

/** Whether the stream is plain RTP. RTP/AVPF is too: it only allows more reports (RFC 4585 section 3.1). */
function isPlain(line: MediaDescription): boolean {
  return isAudio(line) && /^RTP\/AVPF?$/i.test(line.protocol);
}

/** Whether the stream is SRTP (RFC 3711 section 12, RFC 5124, RFC 5764 section 8). */
function isSecure(line: MediaDescription): boolean {
  return isAudio(line) && /^(?:UDP\/TLS\/)?RTP\/SAVPF?$/i.test(line.protocol);
}

function isTls(line: MediaDescription): boolean {
  return /^UDP\/TLS\//i.test(line.protocol);
}

function isAudio(line: MediaDescription): boolean {
  return line.type === 'audio' && line.port > 0 && line.port < 65_536;
}

function readAudio(
  session: SessionDescription,
  line: MediaDescription,
  index: number,
  { crypto, dtls }: { readonly crypto?: CryptoLine | undefined; readonly dtls?: RemoteDtlsLines | undefined },
): RemoteAudio {
  const formats = asText(line.payloads).split(/\s+/);
  const address = plainAddress(asText(line.connection?.ip ?? session.connection?.ip ?? '0.0.0.0'));
  const direction = readDirection(line.direction ?? session.direction);
  const codecs = readCodecs(line, formats);
  return {
    index,
    crypto,
    dtls,
    address,
    port: line.port,
    // Hold in the style of RFC 2543: the address 0.0.0.0, or ::, means that the far end does not listen.
    // With ICE it means that the candidates come later (RFC 8840).
    direction: isWildcard(address) && direction === 'sendrecv' && dtls?.ice === undefined ? 'sendonly' : direction,
    codecs,
    telephoneEvent: readEvents(line, formats, codecs),
  };
}

function readDirection(text: string | undefined): Direction {
  return text !== undefined && text in OPPOSITE ? (text as Direction) : 'sendrecv';
}

/** The direction that answers the far end's. */
export function answerDirection(remote: Direction): Direction {
  return OPPOSITE[remote];
}

/**
 * Encryption of the server's offers. In the words of FreeSWITCH's variable `rtp_secure_media`: none, or keys by SDES. Keys by DTLS with ICE,
 * for browsers; and without, where `dtls-optional` has plain sound beside it.
 */
export type OfferedMedia = 'forbidden' | 'optional' | 'mandatory' | 'webrtc' | 'dtls' | 'dtls-optional';

export function offersDtls(media: OfferedMedia | undefined): boolean {
  return media === 'webrtc' || media === 'dtls' || media === 'dtls-optional';
}

/** Writes the descriptions of one session. The id stays, the version counts changes (RFC 3264 section 5). */
export class LocalDescription {
  readonly #address: string;
  readonly #port: number;
  readonly #keys: LocalKeys;
  /** Certificate and ICE credentials, once the call uses them. */
  dtls: LocalDtls | undefined;
  readonly #sessionId: number;
  #version: number;
  #lastBody = '';

  constructor(address: string, port: number, keys: LocalKeys) {
    this.#address = address;
    this.#port = port;
    this.#keys = keys;
    this.#sessionId = Math.floor(Date.now() / 1000) + port;
    this.#version = this.#sessionId;
  }

  /** An offer of all codecs of the server; of optional encryption as two streams, of which the far end takes one. */
  offer(direction: Direction, media: OfferedMedia): string {
    const stream = (profile: string, keys: readonly string[]): string[] => [
      `m=audio ${this.#port} ${profile} ${OFFERED_FORMATS} 13`,
      ...offeredCodecLines(),
      ...keys,
      'a=rtpmap:13 CN/8000',
      ...directionLines(direction),
      'a=ptime:20',
    ];
    if (media === 'webrtc')
      return this.#session(stream('UDP/TLS/RTP/SAVPF', this.#dtlsLines(OFFER_WITH_ICE)), ICE_SESSION);
    const plain = stream('RTP/AVP', []);
    if (media === 'forbidden') return this.#session(plain);
    const encrypted = offersDtls(media)
      ? stream('UDP/TLS/RTP/SAVP', this.#dtlsLines(OFFER_WITHOUT_ICE))
      : stream('RTP/SAVP', this.#keys.lines());
    const isOptional = media === 'optional' || media === 'dtls-optional';
    return this.#session(isOptional ? [...encrypted, ...plain] : encrypted);
  }

  /** An answer that accepts the audio of the offer with one codec, and refuses every other stream. */
  answer(remote: RemoteDescription, audio: RemoteAudio, used: DescribedCodec): string {
    const events = audio.telephoneEvent;
    const { codec, payloadType, parameters } = used;
    const formats = events === undefined ? `${payloadType}` : `${payloadType} ${events.payloadType}`;
    const lines = remote.media.flatMap((media, index) => {
      if (index !== audio.index) return [`m=${media.type} 0 ${media.protocol} ${media.formats}`];
      return [
        `m=audio ${this.#port} ${media.protocol} ${formats}`,
        ...codecLines(codec, payloadType, parameters),
        ...(events === undefined ? [] : eventLines(events)),
        ...(audio.dtls === undefined ? [] : this.#dtlsLines(answering(audio.dtls))),
        ...(audio.crypto === undefined ? [] : [`a=crypto:${writeCryptoLine(this.#keys.answering(audio.crypto))}`]),
        ...directionLines(answerDirection(audio.direction)),
        'a=ptime:20',
      ];
    });
    return this.#session(lines, audio.dtls === undefined ? [] : answeringSession(audio.dtls));
  }

  #dtlsLines(form: DtlsForm): string[] {
    if (this.dtls === undefined) throw new Error('a session description with DTLS before the certificate is there');
    return dtlsLines(this.dtls, { address: this.#address, port: this.#port }, form);
  }

  /** An answer that accepts a fax as it was offered, and refuses every other stream. */
  faxAnswer(remote: RemoteDescription, fax: RemoteFax): string {
    const lines = remote.media.flatMap(({ type, protocol, formats }, index) =>
      index === fax.index
        ? [`m=image ${this.#port} ${protocol} ${formats}`, ...fax.attributes]
        : [`m=${type} 0 ${protocol} ${formats}`],
    );
    return this.#session(lines);
  }

  /** An answer that refuses every stream, as FreeSWITCH's to a re-INVITE without a common codec. */
  refusal(remote: RemoteDescription): string {
    return this.#session(remote.media.map((media) => `m=${media.type} 0 ${media.protocol} ${media.formats}`));
  }

  #session(media: readonly string[], attributes: readonly string[] = []): string {
    const body = ['s=FreeSWITCH', `c=${networkOf(this.#address)}`, 't=0 0', ...attributes, ...media, ''].join('\r\n');
    if (body !== this.#lastBody) this.#version += 1;
    this.#lastBody = body;
    return `v=0\r\no=FreeSWITCH ${this.#sessionId} ${this.#version} ${networkOf(this.#address)}\r\n${body}`;
  }
}

/** The address of `o=` and `c=` (RFC 8866 section 5.7). */
function networkOf(address: string): string {
  return `IN ${isIPv6(address) ? 'IP6' : 'IP4'} ${address}`;
}

/** The description for the variable `rtp_local_sdp_str`: with the direction, even the default one. */
export function withDirection(sdp: string): string {
  return /^a=(?:sendrecv|sendonly|recvonly|inactive)\r?$/m.test(sdp) ? sdp : `${sdp}a=sendrecv\r\n`;
}

function directionLines(direction: Direction): string[] {
  return direction === 'sendrecv' ? [] : [`a=${direction}`];
}
