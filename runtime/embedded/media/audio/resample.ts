import { SAMPLE_RATE } from './format.ts';

/**
 * Brings speech to 8 kHz: each output sample is the mean of the input it covers, which is low-pass enough for voices.
 *
 * @param rate samples a second of the input, 8000 or more
 */
export function toTelephonyRate(samples: Int16Array, rate: number): Int16Array {
  if (rate === SAMPLE_RATE) return samples;
  const step = rate / SAMPLE_RATE;
  const result = new Int16Array(Math.floor(samples.length / step));
  for (let index = 0; index < result.length; index += 1) {
    const start = Math.floor(index * step);
    const end = Math.max(start + 1, Math.floor((index + 1) * step));
    let sum = 0;
    for (let at = start; at < end; at += 1) sum += samples[at] ?? 0;
    result[index] = Math.round(sum / (end - start));
  }
  return result;
}
