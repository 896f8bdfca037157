/** Headers of WAV files. */
import { SAMPLE_RATE } from './format.ts';

/** Format tag of linear samples (WAVE_FORMAT_PCM). */
export const FORMAT_PCM = 1;

/** The 44-byte header of an 8 kHz 16-bit PCM file with `samples` samples of each channel. */
export function wavHeader(samples: number, channels = 1): Buffer {
  const bytes = samples * 2 * channels;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(FORMAT_PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * 2 * channels, 28);
  header.writeUInt16LE(2 * channels, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(bytes, 40);
  return header;
}
