/** Energy of sound by bands of frequencies. */

/** A sine whose frequency goes from one end to the other at an even pace. */
export function sweep(
  { from, to }: { readonly from: number; readonly to: number },
  seconds: number,
  rate: number,
  amplitude = 8000,
): Int16Array {
  const samples = new Int16Array(Math.round(seconds * rate));
  for (let at = 0; at < samples.length; at += 1) {
    const time = at / rate;
    const cycles = from * time + ((to - from) * time * time) / (2 * seconds);
    samples[at] = Math.round(amplitude * Math.sin(2 * Math.PI * cycles));
  }
  return samples;
}

/**
 * Energy of each band in dB, the same at any rate, by a Fourier transform of the whole sound.
 * @param edges Hz, of neighbouring bands
 */
export function bandLevels(samples: Int16Array, edges: readonly number[], rate: number): number[] {
  const size = 2 ** Math.ceil(Math.log2(samples.length));
  const re = new Float64Array(size);
  const im = new Float64Array(size);
  re.set(samples);
  transform(re, im);
  return edges.slice(1).map((upper, index) => {
    const lower = edges[index] ?? 0;
    let energy = 0;
    for (let bin = Math.ceil((lower * size) / rate); bin < (upper * size) / rate; bin += 1)
      energy += (re[bin] ?? 0) ** 2 + (im[bin] ?? 0) ** 2;
    return 10 * Math.log10((energy + 1) / (size * rate));
  });
}

/** The fast Fourier transform (Cooley and Tukey), in place. Lengths are powers of two. */
function transform(re: Float64Array, im: Float64Array): void {
  const size = re.length;
  for (let at = 1, mirror = 0; at < size; at += 1) {
    let bit = size >> 1;
    for (; (mirror & bit) !== 0; bit >>= 1) mirror ^= bit;
    mirror ^= bit;
    if (at >= mirror) continue;
    [re[at], re[mirror]] = [re[mirror] as number, re[at] as number];
    [im[at], im[mirror]] = [im[mirror] as number, im[at] as number];
  }
  for (let length = 2; length <= size; length *= 2) {
    for (let start = 0; start < size; start += length) {
      for (let at = 0; at < length / 2; at += 1) {
        const angle = (-2 * Math.PI * at) / length;
        const [one, other] = [start + at, start + at + length / 2];
        const [real, imaginary] = [re[other] as number, im[other] as number];
        const turned = real * Math.cos(angle) - imaginary * Math.sin(angle);
        const turnedToo = real * Math.sin(angle) + imaginary * Math.cos(angle);
        re[other] = (re[one] as number) - turned;
        im[other] = (im[one] as number) - turnedToo;
        re[one] = (re[one] as number) + turned;
        im[one] = (im[one] as number) + turnedToo;
      }
    }
  }
}
