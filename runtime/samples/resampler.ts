/** Changes the sampling rate of a stream of samples, with a low-pass filter. */
import { bessel } from './bessel.ts';

/** Stop-band attenuation of the filter in decibels, and the width of its transition as a share of the lower Nyquist rate. */
const ATTENUATION = 80;
const TRANSITION = 0.15;

/** Samples that `resample` converts at a time, some 2 ms of work. */
const PIECE = 8192;

/**
 * Resamples by a windowed sinc filter (Kaiser window): 80 dB against aliases, flat up to 85 % of the lower Nyquist rate, which is
 * 3.4 kHz at 8 kHz and 6.8 kHz at 16 kHz. The output has no delay against the input.
 */
export class Resampler {
  readonly #up: number;
  readonly #down: number;
  /** Taps on each side of an output sample. */
  readonly #half: number;
  /** Taps by phase; all phases of common rates, computed when first used. */
  readonly #phases = new Map<number, Float32Array>();
  /** Rate at which the filter cuts, as a share of the input rate. */
  readonly #cutoff: number;
  readonly #beta = 0.1102 * (ATTENUATION - 8.7);
  /** Input that later outputs need. */
  #kept: Float32Array;
  /** Index of the first kept sample in the whole input. */
  #start: number;
  #received = 0;
  #made = 0;

  /**
   * @param rate samples a second of the input
   * @param target samples a second of the output
   */
  constructor(rate: number, target: number) {
    const divisor = greatestDivisor(rate, target);
    this.#up = target / divisor;
    this.#down = rate / divisor;
    const nyquist = Math.min(rate, target) / 2 / rate;
    this.#cutoff = nyquist * (1 - TRANSITION / 2);
    // Kaiser's formula for the number of taps.
    const taps = (ATTENUATION - 7.95) / (2.285 * 2 * Math.PI * nyquist * TRANSITION);
    this.#half = Math.ceil(taps / 2);
    this.#kept = new Float32Array(this.#half);
    this.#start = -this.#half;
  }

  /** The output samples that are complete with this input. */
  push(samples: Float32Array): Float32Array {
    this.#received += samples.length;
    const joined = new Float32Array(this.#kept.length + samples.length);
    joined.set(this.#kept);
    joined.set(samples, this.#kept.length);
    const made = new Float32Array(Math.ceil((joined.length * this.#up) / this.#down) + 1);
    let count = 0;
    for (;;) {
      const at = Math.floor((this.#made * this.#down) / this.#up);
      if (at + this.#half >= this.#start + joined.length) break;
      made[count] = this.#sample(joined, at);
      count += 1;
      this.#made += 1;
    }
    const next = Math.floor((this.#made * this.#down) / this.#up);
    const drop = Math.max(0, Math.min(joined.length, next - this.#half + 1 - this.#start));
    this.#kept = joined.slice(drop);
    this.#start += drop;
    return made.subarray(0, count);
  }

  /** The rest, at the end of the input. */
  flush(): Float32Array {
    const total = Math.floor((this.#received * this.#up) / this.#down);
    const missing = total - this.#made;
    return this.push(new Float32Array(this.#half + 1)).subarray(0, Math.max(0, missing));
  }

  #sample(input: Float32Array, at: number): number {
    const phase = (this.#made * this.#down) % this.#up;
    const taps = this.#taps(phase);
    const first = at - this.#half + 1 - this.#start;
    let sum = 0;
    for (let index = 0; index < taps.length; index += 1)
      sum += (input[first + index] as number) * (taps[index] as number);
    return sum;
  }

  #taps(phase: number): Float32Array {
    const known = this.#phases.get(phase);
    if (known !== undefined) return known;
    const taps = new Float32Array(2 * this.#half);
    const shift = phase / this.#up;
    let sum = 0;
    for (let index = 0; index < taps.length; index += 1) {
      const x = index - this.#half + 1 - shift;
      const window = bessel(this.#beta * Math.sqrt(Math.max(0, 1 - (x / this.#half) ** 2)));
      const tap = sinc(2 * this.#cutoff * x) * window;
      taps[index] = tap;
      sum += tap;
    }
    // Each phase passes a constant unchanged.
    for (let index = 0; index < taps.length; index += 1) taps[index] = (taps[index] ?? 0) / sum;
    this.#phases.set(phase, taps);
    return taps;
  }
}

/**
 * Resamples a whole sound.
 *
 * @param rate samples a second of the input
 * @param target samples a second of the result; equal rates give the input itself
 */
export function resample(samples: Int16Array, rate: number, target: number): Int16Array {
  const work = resampling(samples, rate, target);
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Like `resample`, but lets other work of the thread run every few milliseconds. */
export async function resampleInPieces(samples: Int16Array, rate: number, target: number): Promise<Int16Array> {
  const work = resampling(samples, rate, target);
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    // The next piece waits on purpose.
    // oxlint-disable-next-line eslint/no-await-in-loop
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function* resampling(samples: Int16Array, rate: number, target: number): Generator<undefined, Int16Array> {
  if (rate === target) return samples;
  const resampler = new Resampler(rate, target);
  const result = new Int16Array(Math.floor((samples.length * target) / rate));
  let at = 0;
  const put = (made: Float32Array): void => {
    for (const sample of made) {
      if (at < result.length) result[at] = Math.max(-32_768, Math.min(32_767, Math.round(sample)));
      at += 1;
    }
  };
  for (let from = 0; from < samples.length; from += PIECE) {
    put(resampler.push(Float32Array.from(samples.subarray(from, from + PIECE))));
    yield undefined;
  }
  put(resampler.flush());
  return result;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
