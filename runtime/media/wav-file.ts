/** Reads and repairs WAV files of recordings. */
import { type FileHandle, open } from 'node:fs/promises';
import { wavHeader } from '../wav/index.ts';
import { decodeG711 } from './g711.ts';

/** A file that is not a readable WAV file. */
export class WavFormatError extends Error {
  override readonly name = 'WavFormatError';
}

export interface WavShape {
  readonly channels: number;
  /** Samples per second. */
  readonly rate: number;
  readonly encoding: 'PCM16' | 'PCMU' | 'PCMA';
  /** Offset of the samples, in octets. */
  readonly dataOffset: number;
  /** Actual octets of samples, whatever the header says. */
  readonly dataBytes: number;
  /** True when the header contradicts the file's size: the file was not closed. */
  readonly unfinished: boolean;
}

/** Octets searched for the `data` chunk. */
const HEADER_BYTES = 4096;
const ENCODINGS: Readonly<Record<number, WavShape['encoding']>> = { 1: 'PCM16', 6: 'PCMA', 7: 'PCMU' };

/** @throws WavFormatError; the system's error for a missing file */
export async function readWavShape(path: string): Promise<WavShape> {
  await using file = await open(path, 'r');
  return await shapeOf(file, path);
}

/** Duration in milliseconds. */
export function wavDuration({ channels, rate, encoding, dataBytes }: WavShape): number {
  return Math.floor((dataBytes * 1000) / (sampleBytes(encoding) * channels * rate));
}

/**
 * Corrects the sizes in the header of an unclosed recording.
 * @returns the shape afterwards
 * @throws WavFormatError, and the system's errors
 */
export async function repairWav(path: string): Promise<WavShape> {
  await using file = await open(path, 'r+');
  const shape = await shapeOf(file, path);
  if (!shape.unfinished) return shape;
  const frame = sampleBytes(shape.encoding) * shape.channels;
  const dataBytes = shape.dataBytes - (shape.dataBytes % frame);
  await file.truncate(shape.dataOffset + dataBytes);
  await file.write(uint32(shape.dataOffset + dataBytes - 8), 0, 4, 4);
  await file.write(uint32(dataBytes), 0, 4, shape.dataOffset - 4);
  await file.sync();
  return { ...shape, dataBytes, unfinished: false };
}

/** The samples of one channel (0 is left), in pieces of about a second. */
export async function* wavSamples(path: string, channel = 0): AsyncGenerator<Int16Array> {
  await using file = await open(path, 'r');
  const { channels, rate, encoding, dataOffset, dataBytes } = await shapeOf(file, path);
  const frame = sampleBytes(encoding) * channels;
  const chunk = Buffer.alloc(rate * frame);
  for (let at = 0; at + frame <= dataBytes; at += chunk.length) {
    const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, dataBytes - at), dataOffset + at);
    const frames = Math.floor(bytesRead / frame);
    if (frames === 0) return;
    yield oneChannel(chunk, frames, channels, Math.min(channel, channels - 1), encoding);
  }
}

function oneChannel(
  chunk: Buffer,
  frames: number,
  channels: number,
  channel: number,
  encoding: WavShape['encoding'],
): Int16Array {
  if (encoding !== 'PCM16') {
    const octets = Uint8Array.from({ length: frames }, (_, index) => chunk[index * channels + channel] as number);
    return decodeG711(octets, encoding);
  }
  const samples = new Int16Array(frames);
  for (let index = 0; index < frames; index += 1) samples[index] = chunk.readInt16LE((index * channels + channel) * 2);
  return samples;
}

/** A complete mono WAV file of 16-bit samples, in memory. */
export function wavOf(samples: Int16Array, rate: number): Buffer {
  const data = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  return Buffer.concat([wavHeader(samples.length, 1, rate), data]);
}

async function shapeOf(file: FileHandle, path: string): Promise<WavShape> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  const { size } = await file.stat();
  if (bytesRead < 12 || tag(buffer, 0) !== 'RIFF' || tag(buffer, 8) !== 'WAVE') {
    throw new WavFormatError(`${path} is not a WAV file`);
  }
  let format: { code: number; channels: number; rate: number; bits: number } | undefined;
  for (let at = 12; at + 8 <= bytesRead; ) {
    const length = buffer.readUInt32LE(at + 4);
    if (tag(buffer, at) === 'fmt ' && at + 24 <= bytesRead) {
      format = {
        code: buffer.readUInt16LE(at + 8),
        channels: buffer.readUInt16LE(at + 10),
        rate: buffer.readUInt32LE(at + 12),
        bits: buffer.readUInt16LE(at + 22),
      };
    }
    if (tag(buffer, at) === 'data') return dataShape(path, format, at + 8, length, size);
    at += 8 + length + (length % 2);
  }
  throw new WavFormatError(`${path} has no samples`);
}

function dataShape(
  path: string,
  format: { code: number; channels: number; rate: number; bits: number } | undefined,
  dataOffset: number,
  length: number,
  size: number,
): WavShape {
  const encoding = format === undefined ? undefined : ENCODINGS[format.code];
  if (format === undefined || encoding === undefined || format.channels === 0 || format.rate === 0)
    throw new WavFormatError(`${path} has samples in an unknown encoding`);
  if (format.bits !== sampleBytes(encoding) * 8) throw new WavFormatError(`${path} has samples of ${format.bits} bits`);
  const there = size - dataOffset;
  // An unclosed recording says 0 or an impossible size; in closed ones, the bytes after the samples are not sound.
  const unfinished = length === 0 ? there > 0 : length > there;
  return {
    channels: format.channels,
    rate: format.rate,
    encoding,
    dataOffset,
    dataBytes: unfinished ? there : length,
    unfinished,
  };
}

function sampleBytes(encoding: WavShape['encoding']): number {
  return encoding === 'PCM16' ? 2 : 1;
}

function tag(buffer: Buffer, at: number): string {
  return buffer.toString('latin1', at, at + 4);
}

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}
