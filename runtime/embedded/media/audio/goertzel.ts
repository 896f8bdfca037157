import { SAMPLE_RATE } from './format.ts';

/** Share of a block's power at one frequency, 0..1 (Goertzel's algorithm). @param samples at 8 kHz */
export function powerShare(samples: Int16Array, frequency: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * frequency) / SAMPLE_RATE);
  let before = 0;
  let last = 0;
  let total = 0;
  for (const sample of samples) {
    const next = sample + coefficient * last - before;
    before = last;
    last = next;
    total += sample * sample;
  }
  if (total === 0) return 0;
  const power = last * last + before * before - coefficient * last * before;
  return (2 * power) / (samples.length * total);
}
