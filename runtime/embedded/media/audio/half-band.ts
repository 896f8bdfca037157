/** Doubles and halves the rate of a stream of frames by a half-band filter. */
import { bessel } from '../../../samples/index.ts';

/** Pairs of taps beside the middle one. Every other tap of a half-band filter is zero. */
const PAIRS = 16;

/** Attenuation in decibels: flat up to 3.4 kHz, and this much from 4.6 kHz on. */
const ATTENUATION = 76;

/** Taps at the odd distances 1, 3, 5, ... from the middle, which itself is a half (Kaiser window). */
const TAPS = Float64Array.from({ length: PAIRS }, (_, index) => {
  const distance = 2 * index + 1;
  const beta = 0.1102 * (ATTENUATION - 8.7);
  const window = bessel(beta * Math.sqrt(1 - (distance / (2 * PAIRS)) ** 2)) / bessel(beta);
  return (Math.sin((Math.PI * distance) / 2) / (Math.PI * distance)) * window;
});

/** A filter with the input that its next output needs. */
class Memory {
  readonly #past: number;
  #samples: Float64Array;

  constructor(past: number) {
    this.#past = past;
    this.#samples = new Float64Array(past);
  }

  /** The past samples, and after them the frame. */
  join(frame: Int16Array): Float64Array {
    const size = this.#past + frame.length;
    if (this.#samples.length !== size) {
      const grown = new Float64Array(size);
      grown.set(this.#samples.subarray(0, this.#past));
      this.#samples = grown;
    }
    this.#samples.set(frame, this.#past);
    return this.#samples;
  }

  /** Keeps the end of the joined samples as the next past. */
  keep(): void {
    this.#samples.copyWithin(0, this.#samples.length - this.#past);
  }
}

/** Halves the rate; delays by 2 ms at 16 kHz. */
export class Halver {
  readonly #memory = new Memory(4 * PAIRS - 2);

  /** @param target half as long as the frame */
  convert(frame: Int16Array, target: Int16Array): void {
    const samples = this.#memory.join(frame);
    for (let index = 0; index < target.length; index += 1) {
      const middle = 2 * index + 2 * PAIRS - 1;
      let sum = (samples[middle] as number) / 2;
      for (let pair = 0; pair < PAIRS; pair += 1) {
        const distance = 2 * pair + 1;
        const both = (samples[middle - distance] as number) + (samples[middle + distance] as number);
        sum += (TAPS[pair] as number) * both;
      }
      target[index] = clipped(sum);
    }
    this.#memory.keep();
  }
}

/** Doubles the rate; delays by 2 ms. */
export class Doubler {
  readonly #memory = new Memory(2 * PAIRS - 1);

  /** @param target twice as long as the frame */
  convert(frame: Int16Array, target: Int16Array): void {
    const samples = this.#memory.join(frame);
    for (let index = 0; index < frame.length; index += 1) {
      const left = index + PAIRS - 1;
      let sum = 0;
      for (let pair = 0; pair < PAIRS; pair += 1) {
        const both = (samples[left - pair] as number) + (samples[left + 1 + pair] as number);
        sum += (TAPS[pair] as number) * both;
      }
      target[2 * index] = samples[left] as number;
      target[2 * index + 1] = clipped(2 * sum);
    }
    this.#memory.keep();
  }
}

function clipped(sample: number): number {
  return sample > 32_767 ? 32_767 : sample < -32_768 ? -32_768 : Math.round(sample);
}
