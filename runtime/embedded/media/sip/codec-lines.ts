/** The codecs in session descriptions. */
import type { MediaDescription } from 'sdp-transform';
import type { Codec, FormatParameters } from '../audio/codec.ts';
import { CODECS } from '../audio/codecs.ts';
import { OPUS } from '../audio/opus.ts';

/** A codec as a far end describes it. */
export interface DescribedCodec {
  readonly codec: Codec;
  readonly payloadType: number;
  readonly parameters: FormatParameters;
}

/** A telephone-event format of a far end. */
export interface DescribedEvent {
  readonly payloadType: number;
  /** Units a second of its durations. */
  readonly clockRate: number;
}

/** Payload types of telephone-event in the server's offers: with the clocks of Opus, and of the other codecs (RFC 7587 section 7). */
const EVENTS: readonly DescribedEvent[] = [
  { payloadType: 103, clockRate: 48_000 },
  { payloadType: 101, clockRate: 8000 },
];

/** Rates by which codecs are known in `a=rtpmap`. G.722 is at times written with its real one. */
function isRateOf(codec: Codec, rate: number | undefined): boolean {
  return rate === codec.clockRate || (codec.name === 'G722' && rate === codec.rate);
}

/** The server's codecs among the formats of a stream, in the server's order; each once. */
export function readCodecs(line: MediaDescription, formats: readonly string[]): DescribedCodec[] {
  const found = formats.flatMap((format) => {
    const payloadType = Number(format);
    const mapped = line.rtp.find(({ payload }) => String(payload) === format);
    const codec = CODECS.find((each) =>
      mapped === undefined
        ? each !== OPUS && each.payloadType === payloadType
        : each.name.toLowerCase() === mapped.codec.toLowerCase() && isRateOf(each, mapped.rate),
    );
    const isValid = Number.isInteger(payloadType) && payloadType >= 0 && payloadType < 128;
    return codec === undefined || !isValid ? [] : [{ codec, payloadType, parameters: readParameters(line, format) }];
  });
  return CODECS.flatMap((codec) => found.find((each) => each.codec === codec) ?? []);
}

/** `a=fmtp`: name=value pairs between semicolons (RFC 4855 section 3). */
function readParameters({ fmtp }: MediaDescription, format: string): FormatParameters {
  const text = fmtp.find(({ payload }) => String(payload) === format)?.config ?? '';
  const pairs = text.split(';').map((pair) => pair.split('=', 2).map((part) => part.trim()));
  return new Map(pairs.map(([name = '', value = '']) => [name.toLowerCase(), value]));
}

/**
 * The telephone-event format with the codec's clock. As in FreeSWITCH, one with another clock is taken rather than none, beside
 * a codec of 8 kHz with the codec's.
 * @param codecs payload types in use
 */
export function readEvents(
  line: MediaDescription,
  formats: readonly string[],
  codecs: readonly DescribedCodec[],
): DescribedEvent | undefined {
  const clock = codecs[0]?.codec.clockRate ?? 8000;
  const events = line.rtp.flatMap(({ codec, payload, rate = 8000 }) => {
    const isFree = payload < 128 && CODECS.every((each) => each === OPUS || each.payloadType !== payload);
    const isEvent = codec.toLowerCase() === 'telephone-event' && formats.includes(String(payload)) && rate > 0;
    return isEvent && isFree && codecs.every((each) => each.payloadType !== payload)
      ? [{ payloadType: payload, clockRate: rate }]
      : [];
  });
  const found =
    events.find((each) => each.clockRate === clock) ?? events.find((each) => each.clockRate === 8000) ?? events[0];
  return found === undefined || clock !== 8000 ? found : { ...found, clockRate: clock };
}

/** Payload types of an offer, without comfort noise. */
export const OFFERED_FORMATS = [...CODECS, ...EVENTS].map(({ payloadType }) => payloadType).join(' ');

/** Lines of an offer of all codecs. */
export function offeredCodecLines(): string[] {
  return [
    ...CODECS.flatMap((codec) => codecLines(codec, codec.payloadType, new Map())),
    ...EVENTS.flatMap((event) => eventLines(event)),
  ];
}

/**
 * Lines of a codec. Opus is asked for copies of lost sound (RFC 7587 section 6.1), and for pauses where the far end wants them too.
 * @param offered what the far end says of it
 */
export function codecLines(codec: Codec, payloadType: number, offered: FormatParameters): string[] {
  if (codec !== OPUS) return [`a=rtpmap:${payloadType} ${codec.name}/${codec.clockRate}`];
  const dtx = offered.get('usedtx') === '1' ? ';usedtx=1' : '';
  return [`a=rtpmap:${payloadType} opus/48000/2`, `a=fmtp:${payloadType} useinbandfec=1${dtx}`];
}

export function eventLines({ payloadType, clockRate }: DescribedEvent): string[] {
  return [`a=rtpmap:${payloadType} telephone-event/${clockRate}`, `a=fmtp:${payloadType} 0-15`];
}
