/** A frame at another rate, converted once for all who read it. */
import { frameSamples, type Rate } from '../audio/format.ts';
import { RateConverter } from '../audio/rate-converter.ts';

/** Converts each frame of a stream at most once, because the filter goes on from frame to frame. */
export class Converted {
  readonly #converter = new RateConverter();
  #at = -1;
  #frame: Int16Array | undefined;

  /**
   * @param frame of 20 ms
   * @param at its number
   * @returns the frame at that rate
   */
  of(frame: Int16Array, at: number, rate: Rate): Int16Array {
    if (frame.length === frameSamples(rate)) return frame;
    if (at !== this.#at || this.#frame === undefined) {
      this.#at = at;
      this.#frame = this.#converter.convert(frame, rate);
    }
    return this.#frame;
  }
}
