/** Reads WAV files. */
import { resample } from '../../../samples/index.ts';
import { PCMA, PCMU } from './g711.ts';
import { SAMPLE_RATE } from './format.ts';
import { FORMAT_PCM } from '../../../wav/index.ts';

/** A WAV file is invalid or unsupported; the message shows the found and the expected value. */
export class WavError extends Error {
  override readonly name = 'WavError';
  readonly field: string;
  readonly found: string;
  constructor(field: string, found: string, expected: string) {
    super(`WAV ${field} is ${found}; expected ${expected}`);
    this.field = field;
    this.found = found;
  }
}

const FORMAT_ALAW = 6;
const FORMAT_MULAW = 7;
const FORMAT_EXTENSIBLE = 0xfffe;

interface WavFormat {
  readonly encoding: number;
  readonly channels: number;
  readonly rate: number;
  readonly bits: number;
}

/** The sound of a file. */
export interface WavSound {
  /** Linear 16-bit samples, mono. */
  readonly samples: Int16Array;
  /** Samples a second. */
  readonly rate: number;
}

/**
 * Reads a WAV file and resamples it; see `readWavSound`.
 *
 * @param rate samples a second of the result
 */
export function readWav(file: Uint8Array, rate: number = SAMPLE_RATE): Int16Array {
  const sound = readWavSound(file);
  return resample(sound.samples, sound.rate, rate);
}

/**
 * Reads a RIFF/WAVE file: PCM 16-bit, mu-law or A-law, 8 to 48 kHz, mono or stereo. The result is mono.
 *
 * @param file the whole file
 * @throws WavError with the unsupported field or the missing chunk
 */
export function readWavSound(file: Uint8Array): WavSound {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.byteLength < 12 || chunkName(view, 0) !== 'RIFF' || chunkName(view, 8) !== 'WAVE') {
    throw new WavError('signature', describeStart(file), 'RIFF....WAVE');
  }
  let format: WavFormat | undefined;
  for (let offset = 12; offset + 8 <= view.byteLength; ) {
    const name = chunkName(view, offset);
    const size = view.getUint32(offset + 4, true);
    const body = offset + 8;
    const available = Math.min(size, view.byteLength - body);
    if (name === 'fmt ') format = readFormat(view, body, available);
    if (name === 'data') {
      if (format === undefined) throw new WavError('data chunk', 'before the fmt chunk', 'after it');
      return { samples: toMono(format, view, body, available), rate: format.rate };
    }
    offset = body + size + (size & 1);
  }
  throw new WavError('data chunk', 'missing', 'one after the fmt chunk');
}

function chunkName(view: DataView, offset: number): string {
  return String.fromCharCode(
    view.getUint8(offset),
    view.getUint8(offset + 1),
    view.getUint8(offset + 2),
    view.getUint8(offset + 3),
  );
}

function describeStart(file: Uint8Array): string {
  return file.byteLength === 0 ? 'empty' : JSON.stringify(Buffer.from(file.subarray(0, 12)).toString('latin1'));
}

function readFormat(view: DataView, offset: number, size: number): WavFormat {
  if (size < 16) throw new WavError('fmt chunk', `${size} bytes long`, 'at least 16');
  const tag = view.getUint16(offset, true);
  // WAVE_FORMAT_EXTENSIBLE keeps the real format in the first two bytes of its SubFormat GUID.
  const encoding = tag === FORMAT_EXTENSIBLE && size >= 26 ? view.getUint16(offset + 24, true) : tag;
  const format = {
    encoding,
    channels: view.getUint16(offset + 2, true),
    rate: view.getUint32(offset + 4, true),
    bits: view.getUint16(offset + 14, true),
  };
  const wanted = encoding === FORMAT_PCM ? 16 : 8;
  if (encoding !== FORMAT_PCM && encoding !== FORMAT_ALAW && encoding !== FORMAT_MULAW) {
    throw new WavError('encoding', String(encoding), '1 (PCM), 6 (A-law) or 7 (mu-law)');
  }
  if (format.bits !== wanted) throw new WavError('sample size', `${format.bits} bits`, `${wanted} bits`);
  if (format.channels !== 1 && format.channels !== 2) throw new WavError('channels', String(format.channels), '1 or 2');
  if (format.rate < SAMPLE_RATE || format.rate > 48_000) {
    throw new WavError('sample rate', String(format.rate), '8000 to 48000');
  }
  return format;
}

function toMono(format: WavFormat, view: DataView, offset: number, size: number): Int16Array {
  const width = format.encoding === FORMAT_PCM ? 2 : 1;
  const total = Math.floor(size / (width * format.channels));
  const mono = new Int16Array(total);
  const table = format.encoding === FORMAT_ALAW ? PCMA.toLinear : PCMU.toLinear;
  const sampleAt = (index: number): number =>
    width === 2 ? view.getInt16(offset + index * 2, true) : (table[view.getUint8(offset + index)] as number);
  for (let index = 0; index < total; index += 1) {
    mono[index] = format.channels === 1 ? sampleAt(index) : (sampleAt(index * 2) + sampleAt(index * 2 + 1)) >> 1;
  }
  return mono;
}
