/** Which codecs a far end gets, and in which order. */
import { formatNames } from './audio-codecs.ts';
import { MediaError } from './media-error.ts';

/** The codecs of media servers, named as in session descriptions, in their own order. */
export const CODEC_NAMES = ['opus', 'G722', 'PCMU', 'PCMA'] as const;

export type CodecName = (typeof CODEC_NAMES)[number];

/** The wanted codecs of a far end. */
export interface CodecWish {
  /** The best first. */
  readonly order: readonly CodecName[];
  /** Whether no other codec may be used. */
  readonly only: boolean;
}

/**
 * The codecs for a called phone: as the phone's domain wants, the caller's first where it is among them. Packets of one codec
 * are passed on, others decoded.
 * @param list of the sipuser, provider or domain; undefined: the media server's
 * @param caller the caller's codec
 */
export function codecWish(list: readonly CodecName[] | undefined, caller?: CodecName): CodecWish | undefined {
  if (list === undefined && caller === undefined) return undefined;
  const order = list ?? CODEC_NAMES;
  const first = caller !== undefined && order.includes(caller) ? [caller] : [];
  return { order: [...first, ...order.filter((name) => name !== caller)], only: list !== undefined };
}

/** The codec that the audio of a description gets; undefined for one that is not known here. */
export function bestCodec(sdp: string, wish: CodecWish | undefined): CodecName | undefined {
  const section = sdp.split(/^(?=m=)/m).find((each) => AUDIO.test(each));
  return section === undefined ? undefined : bestOf(formatNames(section), wish?.order ?? CODEC_NAMES);
}

/**
 * A far end's description with the best of its codecs alone: media servers then take that one, whatever their own order.
 * @throws MediaError with status 488 when it has none of the only ones
 */
export function withBestCodec(sdp: string, wish: CodecWish | undefined): string {
  if (wish === undefined) return sdp;
  return inAudio(sdp, (section) => {
    const names = formatNames(section);
    const best = bestOf(names, wish.order);
    if (best === undefined && !wish.only) return section;
    if (best === undefined)
      throw new MediaError(`the phone has none of the codecs ${wish.order.join(', ')}`, 488, {
        phrase: 'Not Acceptable Here',
      });
    return withFormats(
      section,
      names,
      [...names.keys()].filter((format) => isKept(names, format, [best])),
    );
  });
}

/** The media server's offer with the wanted codecs in their order. */
export function inWantedOrder(sdp: string, wish: CodecWish | undefined): string {
  if (wish === undefined) return sdp;
  return inAudio(sdp, (section) => {
    const names = formatNames(section);
    const wanted = wish.order.flatMap((name) => formatsOf(names, name));
    // With none of them, the offer stays: a far end would refuse it without a codec.
    if (wanted.length === 0) return section;
    const others = [...names.keys()].filter((format) => !wanted.includes(format));
    const kept = wish.only ? others.filter((format) => isKept(names, format, wish.order)) : others;
    return withFormats(section, names, [...wanted, ...kept]);
  });
}

const AUDIO = /^m=audio [1-9]/;

function inAudio(sdp: string, change: (section: string) => string): string {
  return sdp
    .split(/^(?=m=)/m)
    .map((section) => (AUDIO.test(section) ? change(section) : section))
    .join('');
}

function bestOf(names: ReadonlyMap<string, string>, order: readonly CodecName[]): CodecName | undefined {
  return order.find((name) => formatsOf(names, name).length > 0);
}

function formatsOf(names: ReadonlyMap<string, string>, name: CodecName): string[] {
  return [...names].flatMap(([format, known]) => (known.startsWith(`${name.toUpperCase()}/`) ? [format] : []));
}

/** Whether a format stays beside these codecs: itself, comfort noise, and telephone-events of a clock that they have. */
function isKept(names: ReadonlyMap<string, string>, format: string, codecs: readonly CodecName[]): boolean {
  const name = names.get(format) ?? '';
  if (codecs.some((codec) => name.startsWith(`${codec.toUpperCase()}/`)) || name.startsWith('CN/')) return true;
  if (!name.startsWith('TELEPHONE-EVENT/')) return false;
  const [clock] = codecs.includes('opus') ? ['48000'] : ['8000'];
  const events = [...names.values()].filter((each) => each.startsWith('TELEPHONE-EVENT/'));
  const fits = (each: string): boolean =>
    each === `TELEPHONE-EVENT/${clock}` || (codecs.length > 1 && each === 'TELEPHONE-EVENT/8000');
  // One of another clock is better than none.
  return fits(name) || !events.some(fits);
}

/** The section with these formats alone, in this order. */
function withFormats(section: string, names: ReadonlyMap<string, string>, formats: readonly string[]): string {
  const gone = new Set([...names.keys()].filter((format) => !formats.includes(format)));
  return section
    .replace(/^(m=audio \d+(?:\/\d+)? \S+) [^\r\n]*/, `$1 ${formats.join(' ')}`)
    .replace(/^a=(?:rtpmap|fmtp|rtcp-fb):(\S+)[^\n]*\n/gm, (line, format: string) => (gone.has(format) ? '' : line));
}
