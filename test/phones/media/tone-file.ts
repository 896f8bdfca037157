import { SAMPLE_RATE, ToneSource } from './tone.ts';

/** A WAV file: PCM, 16 bit, mono. */
export function toneFile(frequency: number, seconds: number, rate = SAMPLE_RATE): Buffer {
  const samples = new ToneSource(frequency, undefined, rate).next(seconds * rate);
  const data = Buffer.from(samples.buffer);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}
