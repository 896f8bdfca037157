import { SAMPLE_RATE } from './format.ts';

/**
 * Resamples speech to 8 kHz. Each output sample is the mean of its input samples, a sufficient low-pass for voices.
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
