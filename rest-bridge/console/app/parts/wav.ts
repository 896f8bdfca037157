/** The shape of a recording: loudness over time, by channel, from the samples of a WAV file. */

export interface Shape {
  /** Greatest sample of each slice, 0 to 1, by channel. */
  readonly peaks: readonly Float32Array[];
  readonly seconds: number;
}

const PCM = 1;

/**
 * Reads a WAV file of 16-bit samples.
 *
 * @param slices of the time
 * @returns undefined for a file of another kind
 */
export function shapeOfWav(file: ArrayBuffer, slices: number): Shape | undefined {
  const view = new DataView(file);
  const name = (at: number): string => String.fromCharCode(...[0, 1, 2, 3].map((index) => view.getUint8(at + index)));
  if (file.byteLength < 44 || name(0) !== 'RIFF' || name(8) !== 'WAVE') return undefined;
  let channels = 0;
  let rate = 0;
  for (let at = 12; at + 8 <= file.byteLength; ) {
    const size = view.getUint32(at + 4, true);
    if (name(at) === 'fmt ') {
      if (view.getUint16(at + 8, true) !== PCM || view.getUint16(at + 22, true) !== 16) return undefined;
      channels = view.getUint16(at + 10, true);
      rate = view.getUint32(at + 12, true);
    } else if (name(at) === 'data') {
      if (channels === 0 || rate === 0) return undefined;
      const length = Math.min(size, file.byteLength - at - 8);
      const samples = new Int16Array(file.slice(at + 8, at + 8 + length - (length % 2)));
      return { peaks: peaksOf(samples, channels, slices), seconds: samples.length / channels / rate };
    }
    at += 8 + size + (size % 2);
  }
  return undefined;
}

function peaksOf(samples: Int16Array, channels: number, slices: number): Float32Array[] {
  const peaks = Array.from({ length: channels }, () => new Float32Array(slices));
  const frames = Math.floor(samples.length / channels);
  for (let frame = 0; frame < frames; frame += 1) {
    const slice = Math.floor((frame * slices) / frames);
    for (let channel = 0; channel < channels; channel += 1) {
      const level = Math.abs(samples[frame * channels + channel] ?? 0) / 32_768;
      const peak = peaks[channel];
      if (peak !== undefined && level > (peak[slice] ?? 0)) peak[slice] = level;
    }
  }
  return peaks;
}
