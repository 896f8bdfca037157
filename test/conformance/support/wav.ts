import { readFileSync, writeFileSync } from 'node:fs';

const RATE = 8000;

/** Writes a tone as 8 kHz mono 16-bit WAV, for the media server to play. */
export function writeTone(file: string, frequency: number, milliseconds: number): void {
  const samples = (RATE * milliseconds) / 1000;
  const data = Buffer.alloc(44 + samples * 2);
  data.write('RIFF', 0, 'latin1');
  data.writeUInt32LE(36 + samples * 2, 4);
  data.write('WAVEfmt ', 8, 'latin1');
  data.writeUInt32LE(16, 16);
  data.writeUInt16LE(1, 20);
  data.writeUInt16LE(1, 22);
  data.writeUInt32LE(RATE, 24);
  data.writeUInt32LE(RATE * 2, 28);
  data.writeUInt16LE(2, 32);
  data.writeUInt16LE(16, 34);
  data.write('data', 36, 'latin1');
  data.writeUInt32LE(samples * 2, 40);
  for (let index = 0; index < samples; index += 1) {
    data.writeInt16LE(Math.round(9000 * Math.sin((2 * Math.PI * frequency * index) / RATE)), 44 + index * 2);
  }
  writeFileSync(file, data);
}

/** Reads a recording of the media server: 16-bit PCM, one channel by default. */
export function readRecording(file: string): { rate: number; channels: number; samples: Int16Array } {
  const data = readFileSync(file);
  const format = data.indexOf('fmt ', 0, 'latin1') + 8;
  const start = data.indexOf('data', format, 'latin1') + 8;
  const bytes = data.subarray(start);
  const samples = new Int16Array(bytes.length >> 1);
  for (let index = 0; index < samples.length; index += 1) samples[index] = bytes.readInt16LE(index * 2);
  return { rate: data.readUInt32LE(format + 4), channels: data.readUInt16LE(format + 2), samples };
}

/** The longest common silence of all channels in milliseconds, to 20 ms. */
export function longestSilence(samples: Int16Array, channels: number): { fromMs: number; toMs: number } {
  const frame = (RATE / 50) * channels;
  let longest = { fromMs: 0, toMs: 0 };
  let fromMs = 0;
  for (let index = 0; (index + 1) * frame <= samples.length; index += 1) {
    const isSilent = samples.subarray(index * frame, (index + 1) * frame).every((sample) => Math.abs(sample) < 20);
    if (!isSilent) fromMs = (index + 1) * 20;
    else if (index * 20 + 20 - fromMs > longest.toMs - longest.fromMs) longest = { fromMs, toMs: index * 20 + 20 };
  }
  return longest;
}
