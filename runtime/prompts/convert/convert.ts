/** Converts a sound file of any known kind to a WAV file that both media servers play: 16 kHz, or 8 kHz for a lower one, mono, 16 bits. */
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { WAV_HEADER_BYTES, wavHeader } from '../../wav/index.ts';
import { openDecoder, type Piece } from './decoders.ts';
import { SoundError } from './errors.ts';
import { soundKindOf } from './kind-of-file.ts';
import type { SoundKind } from './kinds.ts';
import { Resampler } from '../../samples/index.ts';

/** Samples a second of the result: wideband, unless the sound has less. */
const WIDEBAND_RATE = 16_000;
const NARROWBAND_RATE = 8000;
/** Bytes given to a decoder at a time: what it returns for them stays small. */
const PIECE_BYTES = 16_384;
/** Broken frames of a file that is played all the same: so many, and one more for each second of sound. */
const FAULTS_FORGIVEN = 3;

export interface Converted {
  readonly kind: SoundKind;
  readonly milliseconds: number;
}

/**
 * Converts a file.
 *
 * @param maxSeconds of sound
 * @throws SoundError; the target is then incomplete
 */
export async function convert(source: string, target: string, maxSeconds: number): Promise<Converted> {
  const kind = await soundKindOf(source);
  const decoder = await openDecoder(kind);
  const file = await open(target, 'w');
  try {
    const writer = new SoundWriter(file, maxSeconds);
    await file.write(new Uint8Array(WAV_HEADER_BYTES));
    for await (const bytes of createReadStream(source, { highWaterMark: PIECE_BYTES }))
      for (const piece of await decoder.decode(bytes as Uint8Array)) await writer.add(piece);
    for (const piece of await decoder.flush()) await writer.add(piece);
    await writer.end();
    if (writer.samples === 0) throw new SoundError('empty', `has no sound that can be decoded as ${kind}`);
    if (writer.faults > FAULTS_FORGIVEN + writer.seconds)
      throw new SoundError('broken', `cannot be decoded as ${kind}: ${writer.faults} of its frames are broken`);
    await file.write(wavHeader(writer.samples, 1, writer.rate), 0, WAV_HEADER_BYTES, 0);
    return { kind, milliseconds: Math.round(writer.seconds * 1000) };
  } finally {
    await file.close();
  }
}

/** Writes decoded sound at the rate that its first piece allows. */
class SoundWriter {
  readonly #file: FileHandle;
  readonly #maxSeconds: number;
  #resampler: { readonly rate: number; readonly of: Resampler } | undefined;
  samples = 0;
  faults = 0;
  /** Samples a second of the result. */
  rate = 0;

  constructor(file: FileHandle, maxSeconds: number) {
    this.#file = file;
    this.#maxSeconds = maxSeconds;
  }

  get seconds(): number {
    return this.rate === 0 ? 0 : this.samples / this.rate;
  }

  async add({ channels, rate, faults = 0 }: Piece): Promise<void> {
    this.faults += faults;
    if (channels.length === 0) return;
    if (this.rate === 0) this.rate = rate < WIDEBAND_RATE ? NARROWBAND_RATE : WIDEBAND_RATE;
    const mono = mixed(channels);
    if (rate === this.rate) {
      await this.end();
      return this.#write(mono);
    }
    // The rate may change within an MP3 file.
    if (this.#resampler?.rate !== rate) {
      await this.end();
      this.#resampler = { rate, of: new Resampler(rate, this.rate) };
    }
    await this.#write(this.#resampler.of.push(mono));
  }

  async end(): Promise<void> {
    const rest = this.#resampler?.of.flush();
    this.#resampler = undefined;
    if (rest !== undefined) await this.#write(rest);
  }

  async #write(samples: Float32Array): Promise<void> {
    if (samples.length === 0) return;
    this.samples += samples.length;
    if (this.seconds > this.#maxSeconds) throw new SoundError('too_long', `is longer than ${this.#maxSeconds} s`);
    const bytes = Buffer.alloc(samples.length * 2);
    for (const [index, sample] of samples.entries())
      bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))), index * 2);
    await this.#file.write(bytes);
  }
}

/** The mean of the channels. */
function mixed(channels: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0)] = channels;
  if (channels.length === 1) return first;
  return first.map((_, index) => channels.reduce((sum, channel) => sum + (channel[index] ?? 0), 0) / channels.length);
}
