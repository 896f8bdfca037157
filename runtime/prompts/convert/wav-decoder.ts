/** Decodes WAV files piece by piece. */
import type { Pieces } from './decoders.ts';
import { SoundError } from './errors.ts';

const PCM = 1;
const FLOAT = 3;
const A_LAW = 6;
const MU_LAW = 7;
/** The real encoding is in the first two bytes of the SubFormat. */
const EXTENSIBLE = 0xfffe;
const MAX_CHANNELS = 8;

interface Format {
  readonly encoding: number;
  readonly channels: number;
  readonly rate: number;
  readonly bits: number;
}

/** RIFF/WAVE: PCM of 8 to 32 bits, floating point, A-law and mu-law. @throws SoundError */
export class WavDecoder {
  #rest = Buffer.alloc(0);
  #format: Format | undefined;
  /** Bytes of the current chunk that are skipped. */
  #skip = 12;
  /** Bytes of sound still to come; undefined outside the chunk `data`. */
  #data: number | undefined;

  decode(bytes: Uint8Array): Promise<Pieces> {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const pieces: { channels: Float32Array[]; rate: number }[] = [];
    for (;;) {
      if (this.#data !== undefined) {
        const piece = this.#sound();
        if (piece === undefined) return Promise.resolve(pieces);
        pieces.push(piece);
        continue;
      }
      const skipped = Math.min(this.#skip, this.#rest.length);
      this.#rest = this.#rest.subarray(skipped);
      this.#skip -= skipped;
      if (this.#skip > 0 || !this.#chunk()) return Promise.resolve(pieces);
    }
  }

  flush(): Promise<Pieces> {
    return Promise.resolve([]);
  }

  /** Begins the next chunk; false when more bytes are needed. */
  #chunk(): boolean {
    if (this.#rest.length < 8) return false;
    const name = this.#rest.toString('latin1', 0, 4);
    const size = this.#rest.readUInt32LE(4);
    if (name === 'data') {
      if (this.#format === undefined) throw new SoundError('broken', 'has the chunk "data" before the chunk "fmt "');
      this.#rest = this.#rest.subarray(8);
      this.#data = size;
      return true;
    }
    if (name === 'fmt ') {
      // A format has 40 bytes at most; the chunk of a hostile file may claim more.
      if (this.#rest.length < 8 + Math.min(size, 40)) return false;
      this.#format = formatOf(this.#rest.subarray(8, 8 + Math.min(size, 40)));
    }
    this.#skip = 8 + size + (size & 1);
    return true;
  }

  /** The sound that is there as a whole number of frames; undefined: more bytes are needed. */
  #sound(): { channels: Float32Array[]; rate: number } | undefined {
    const format = this.#format as Format;
    const width = (format.bits / 8) * format.channels;
    const frames = Math.floor(Math.min(this.#data ?? 0, this.#rest.length) / width);
    if (frames === 0) {
      if ((this.#data ?? 0) < width) {
        this.#skip = (this.#data ?? 0) + ((this.#data ?? 0) & 1);
        this.#data = undefined;
        return { channels: [], rate: format.rate };
      }
      return undefined;
    }
    const bytes = this.#rest.subarray(0, frames * width);
    this.#rest = this.#rest.subarray(bytes.length);
    this.#data = (this.#data ?? 0) - bytes.length;
    return { channels: samplesOf(bytes, frames, format), rate: format.rate };
  }
}

function formatOf(chunk: Buffer): Format {
  if (chunk.length < 16) throw new SoundError('broken', `has a chunk "fmt " of ${chunk.length} bytes`);
  const tag = chunk.readUInt16LE(0);
  const format = {
    encoding: tag === EXTENSIBLE && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag,
    channels: chunk.readUInt16LE(2),
    rate: chunk.readUInt32LE(4),
    bits: chunk.readUInt16LE(14),
  };
  const { encoding, channels, rate, bits } = format;
  const widths = { [PCM]: [8, 16, 24, 32], [FLOAT]: [32, 64], [A_LAW]: [8], [MU_LAW]: [8] }[encoding];
  if (widths === undefined)
    throw new SoundError('broken', `has the WAV encoding ${encoding}; use PCM, floating point, A-law or mu-law`);
  if (!widths.includes(bits)) throw new SoundError('broken', `has samples of ${bits} bits; use ${widths.join(', ')}`);
  if (channels < 1 || channels > MAX_CHANNELS)
    throw new SoundError('broken', `has ${channels} channels; use 1 to ${MAX_CHANNELS}`);
  if (rate < 4000 || rate > 384_000) throw new SoundError('broken', `has ${rate} samples a second; use 4000 to 384000`);
  return format;
}

function samplesOf(bytes: Buffer, frames: number, { encoding, channels, bits }: Format): Float32Array[] {
  const read = reader(bytes, encoding, bits);
  const width = bits / 8;
  return Array.from({ length: channels }, (_, channel) =>
    Float32Array.from({ length: frames }, (__, frame) => read((frame * channels + channel) * width)),
  );
}

function reader(bytes: Buffer, encoding: number, bits: number): (offset: number) => number {
  if (encoding === A_LAW) return (offset) => aLaw(bytes.readUInt8(offset));
  if (encoding === MU_LAW) return (offset) => muLaw(bytes.readUInt8(offset));
  if (encoding === FLOAT)
    return bits === 32 ? (offset) => finite(bytes.readFloatLE(offset)) : (offset) => finite(bytes.readDoubleLE(offset));
  // 8-bit samples are unsigned.
  if (bits === 8) return (offset) => (bytes.readUInt8(offset) - 128) / 128;
  const scale = 2 ** (bits - 1);
  return (offset) => bytes.readIntLE(offset, bits / 8) / scale;
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

/** ITU-T G.711, A-law. */
function aLaw(code: number): number {
  const value = code ^ 0x55;
  const exponent = (value >> 4) & 7;
  const mantissa = ((value & 15) << 4) + 8;
  const size = exponent === 0 ? mantissa : (mantissa + 256) << (exponent - 1);
  return ((value & 0x80) === 0 ? -size : size) / 32_768;
}

/** ITU-T G.711, mu-law. */
function muLaw(code: number): number {
  const value = ~code & 0xff;
  const size = ((((value & 15) << 3) + 132) << ((value >> 4) & 7)) - 132;
  return ((value & 0x80) === 0 ? size : -size) / 32_768;
}
