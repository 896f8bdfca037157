/** Kinds of sound files, recognised by their first bytes: names and types that clients send are not trusted. */

export const SOUND_KINDS = ['wav', 'mp3', 'opus', 'flac'] as const;
export type SoundKind = (typeof SOUND_KINDS)[number];

/** Bytes that `kindOf` needs. */
export const HEAD_BYTES = 64;

/** Content types of answers. */
export const CONTENT_TYPES: Readonly<Record<SoundKind, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
};

/** Kinds by the endings of file names. */
export const KIND_OF_ENDING: Readonly<Record<string, SoundKind>> = {
  '.wav': 'wav',
  '.mp3': 'mp3',
  '.opus': 'opus',
  '.ogg': 'opus',
  '.flac': 'flac',
};

/** The endings of sound files, in the order in which a name without one is looked up. */
export const ENDINGS = Object.keys(KIND_OF_ENDING);

/** The kind of a file; undefined for any other. @param head its first bytes, `HEAD_BYTES` where it has so many */
export function kindOf(head: Uint8Array): SoundKind | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  if (text.startsWith('RIFF') && text.startsWith('WAVE', 8)) return 'wav';
  if (text.startsWith('fLaC')) return 'flac';
  // RFC 7845 section 3: the first page holds the identification header alone; RFC 3533 section 6 for its place.
  if (text.startsWith('OggS')) return text.startsWith('OpusHead', 28) ? 'opus' : undefined;
  if (text.startsWith('ID3')) return 'mp3';
  // The sync word of an MPEG audio frame: layer III, no reserved version, bit rate or sampling rate.
  const [first = 0, second = 0, third = 0] = head;
  const isFrame = first === 0xff && (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08;
  return isFrame && third >> 4 !== 15 && (third & 0x0c) !== 0x0c ? 'mp3' : undefined;
}
