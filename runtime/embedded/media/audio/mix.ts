/** Adds `source` to `target`, saturating. */
export function mixInto(target: Int16Array, source: Int16Array): void {
  const count = Math.min(target.length, source.length);
  for (let index = 0; index < count; index += 1) {
    const sum = (target[index] as number) + (source[index] as number);
    target[index] = sum > 32_767 ? 32_767 : sum < -32_768 ? -32_768 : sum;
  }
}

/** Mean absolute level of a frame, 0..32767: FreeSWITCH's measure of energy. */
export function energy(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample < 0 ? -sample : sample;
  return samples.length === 0 ? 0 : sum / samples.length;
}

/** Changes the level of samples in place by steps of 3 dB, saturating. */
export function atLevel(samples: Int16Array, steps: number): void {
  if (steps === 0) return;
  const factor = 10 ** ((steps * 3) / 20);
  for (let index = 0; index < samples.length; index += 1) {
    const scaled = Math.round((samples[index] as number) * factor);
    samples[index] = scaled > 32_767 ? 32_767 : scaled < -32_768 ? -32_768 : scaled;
  }
}
