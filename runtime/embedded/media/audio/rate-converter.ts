/** Brings frames to a wanted rate. */
import { FRAME_SAMPLES, MOST_FRAME_SAMPLES, type Rate, SAMPLE_RATE } from './format.ts';
import { Doubler, Halver } from './half-band.ts';

/**
 * Converts a stream of frames of 20 ms, whose length says their rate. The filters and the memory of the result are made with the first
 * frame of another rate.
 */
export class RateConverter {
  #doubler: Doubler | undefined;
  #halver: Halver | undefined;
  #narrow: Int16Array | undefined;
  #wide: Int16Array | undefined;

  /** @returns the frame itself when it has that rate; otherwise a frame that is valid until the next call */
  convert(frame: Int16Array, rate: Rate): Int16Array {
    if (rate === SAMPLE_RATE) {
      if (frame.length === FRAME_SAMPLES) return frame;
      this.#narrow ??= new Int16Array(FRAME_SAMPLES);
      this.#halver ??= new Halver();
      this.#halver.convert(frame, this.#narrow);
      return this.#narrow;
    }
    if (frame.length === MOST_FRAME_SAMPLES) return frame;
    this.#wide ??= new Int16Array(MOST_FRAME_SAMPLES);
    this.#doubler ??= new Doubler();
    this.#doubler.convert(frame, this.#wide);
    return this.#wide;
  }
}
