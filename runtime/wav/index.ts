/** The door of this room: the header of WAV files, as every part that writes one needs it. */

/** Octets of the header. */
export const WAV_HEADER_BYTES = 44;
/** Format tag of linear samples (WAVE_FORMAT_PCM). */
export const FORMAT_PCM = 1;
const SAMPLE_BYTES = 2;

/**
 * The header of a file of linear samples of 16 bits.
 * @param samples of each channel
 * @param rate samples a second
 */
export function wavHeader(samples: number, channels = 1, rate = 8000): Buffer {
  const frame = SAMPLE_BYTES * channels;
  const bytes = samples * frame;
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + bytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(FORMAT_PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * frame, 28);
  header.writeUInt16LE(frame, 32);
  header.writeUInt16LE(SAMPLE_BYTES * 8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(bytes, 40);
  return header;
}
