/** Taps of the half-band filter on each side of a new sample. */
const TAPS = 8;

/** Windowed sinc at the half-way points: weights of the neighbouring samples. */
const WEIGHTS = Float64Array.from({ length: TAPS * 2 }, (_, index) => {
  const distance = index - TAPS + 0.5;
  const window = Math.cos((Math.PI * distance) / (2 * TAPS)) ** 2;
  return (Math.sin(Math.PI * distance) / (Math.PI * distance)) * window;
});

/** Doubles the rate of a stream, 8 to 16 kHz, with a delay of one millisecond. */
export class Upsampler {
  #past = new Int16Array(TAPS * 2 - 1);

  /** @returns two samples per input sample */
  next(samples: Int16Array): Int16Array {
    const input = new Int16Array(this.#past.length + samples.length);
    input.set(this.#past);
    input.set(samples, this.#past.length);
    const output = new Int16Array(samples.length * 2);
    for (let at = 0; at < samples.length; at += 1) {
      let between = 0;
      for (let tap = 0; tap < WEIGHTS.length; tap += 1)
        between += (WEIGHTS[tap] as number) * (input[at + tap] as number);
      output[at * 2] = input[at + TAPS - 1] as number;
      output[at * 2 + 1] = Math.max(-32_768, Math.min(32_767, Math.round(between)));
    }
    this.#past = input.slice(samples.length);
    return output;
  }
}
