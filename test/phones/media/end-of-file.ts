import { hasTone } from './tone.ts';

/** Samples at 8 kHz: 200 ms. */
const LENGTH = 1600;

/**
 * Whether the last 200 ms of a WAV file that is still written have this tone: PCM of 16 bit, of 8, 16 or 48 kHz.
 * @param format for a program that writes the header at the end
 */
export function endsWithTone(
  file: Buffer,
  frequency: number,
  format = { channels: file.readUInt16LE(22), rate: file.readUInt32LE(24) },
): boolean {
  const frame = format.channels * 2;
  // The left channel at 8 kHz.
  const step = frame * (format.rate / 8000);
  const start = file.length - ((file.length - 44) % frame) - LENGTH * step;
  if (start < 44) return false;
  const samples = Int16Array.from({ length: LENGTH }, (_, at) => file.readInt16LE(start + at * step));
  return hasTone(samples, frequency);
}
