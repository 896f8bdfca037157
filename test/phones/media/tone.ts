/** Sine tones, and their recognition in linear audio: of 8 kHz, unless told otherwise. */

export const SAMPLE_RATE = 8000;

/** An endless sine, produced packet by packet without a phase jump. */
export class ToneSource {
  readonly #step: number;
  readonly #amplitude: number;
  #phase = 0;

  /** @param amplitude of 32767; 8000 is about -12 dBm0 */
  constructor(frequency: number, amplitude = 8000, rate = SAMPLE_RATE) {
    this.#step = (2 * Math.PI * frequency) / rate;
    this.#amplitude = amplitude;
  }

  next(samples: number): Int16Array {
    const out = new Int16Array(samples);
    for (let at = 0; at < samples; at += 1) {
      out[at] = Math.round(this.#amplitude * Math.sin(this.#phase));
      this.#phase = (this.#phase + this.#step) % (2 * Math.PI);
    }
    return out;
  }
}

/** Root mean square of the samples. */
export function level(samples: Int16Array): number {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(energy / samples.length);
}

/** Squared magnitude of the spectrum at `frequency`, by the Goertzel algorithm. */
function powerAt(samples: Int16Array, frequency: number, rate: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * frequency) / rate);
  let previous = 0;
  let beforePrevious = 0;
  for (const sample of samples) {
    const current = sample + coefficient * previous - beforePrevious;
    beforePrevious = previous;
    previous = current;
  }
  return previous ** 2 + beforePrevious ** 2 - coefficient * previous * beforePrevious;
}

/** Share (0 to 1) of the energy that lies at `frequency`. */
export function shareAt(samples: Int16Array, frequency: number, rate = SAMPLE_RATE): number {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  return energy === 0 ? 0 : (2 * powerAt(samples, frequency, rate)) / (samples.length * energy);
}

/** Amplitude of the sine at `frequency`, of 32767. */
export function amplitudeAt(samples: Int16Array, frequency: number, rate = SAMPLE_RATE): number {
  return samples.length === 0 ? 0 : (2 * Math.sqrt(Math.max(0, powerAt(samples, frequency, rate)))) / samples.length;
}

/** Samples below this level count as silence: A-law and mu-law idle noise, comfort noise. */
export const AUDIBLE = 150;

/** Whether the tone is audible, with at least a quarter of the energy (so that two tones may sound together). */
export function hasTone(samples: Int16Array, frequency: number, rate = SAMPLE_RATE): boolean {
  return level(samples) >= AUDIBLE && shareAt(samples, frequency, rate) >= 0.25;
}

/** The strongest frequency in 10 Hz steps up to 3.4 kHz, or 7 kHz, and its share, for error texts; undefined in silence. */
export function strongest(samples: Int16Array, rate = SAMPLE_RATE): { frequency: number; share: number } | undefined {
  if (level(samples) < AUDIBLE) return undefined;
  let best = { frequency: 0, share: 0 };
  for (let frequency = 100; frequency <= 0.4375 * rate - 100; frequency += 10) {
    const share = shareAt(samples, frequency, rate);
    if (share > best.share) best = { frequency, share };
  }
  return best;
}
