/** Finds digits in sound (ITU-T Q.23, Q.24). */

const LOW_GROUP = [697, 770, 852, 941] as const;
const HIGH_GROUP = [1209, 1336, 1477, 1633] as const;

/** The keypad, row by row. */
const KEYS = '123A456B789C*0#D';

/** Length of a block: short enough for digits of 40 ms, long enough to tell 697 from 770 Hz. Blocks overlap by half. */
const BLOCK_SECONDS = 0.01275;

/** Successive blocks of one digit, 32 ms of sound: a digit of 40 ms has them wherever it begins, one of 23 ms has not. */
const HITS = 4;

/** Successive other blocks after a digit, 32 ms: an interruption of 10 ms does not end it, a pause of 40 ms does. */
const MISSES = 5;

/** Smallest amplitude of a tone: some -36 dBm0. */
const MIN_AMPLITUDE = 350;

/** Largest ratio of the power of the two tones: 8 dB of twist, and the loss of a tone that is off by 1.5 %. */
const MAX_TWIST = 10;

/** Smallest ratio of the power of a tone to that of any other of its group: 6 dB. */
const MIN_RELATIVE = 4;

/** Smallest share of the two tones in the power of a block. Speech and music have more than two tones. */
const MIN_SHARE = 0.75;

/** Smallest ratio of the amplitudes of successive hits: of a block that a tone fills in part, three quarters. */
const MIN_STEADY = 0.75;

/** A digit that has ended. */
export interface DetectedDigit {
  readonly digit: string;
  /** Milliseconds. */
  readonly duration: number;
}

/** What a block holds: two tones of the keypad, and the amplitude of both together. */
interface Hit {
  readonly digit: string;
  readonly amplitude: number;
}

/** Finds digits in the samples of one far end, of any sample rate. */
export class DtmfDetector {
  readonly #rate: number;
  readonly #block: Int16Array;
  readonly #low: readonly number[];
  readonly #high: readonly number[];
  #filled = 0;
  /** The digit being received, once it counts as one. */
  #digit: string | undefined;
  /** The successive hits of one digit. */
  #candidate = '';
  #hits = 0;
  #amplitude = 0;
  #misses = 0;
  /** Half blocks of the current digit. */
  #length = 0;

  /** @param rate samples a second */
  constructor(rate: number) {
    this.#rate = rate;
    this.#block = new Int16Array(Math.round((rate * BLOCK_SECONDS) / 2) * 2);
    const coefficient = (frequency: number): number => 2 * Math.cos((2 * Math.PI * frequency) / rate);
    this.#low = LOW_GROUP.map(coefficient);
    this.#high = HIGH_GROUP.map(coefficient);
  }

  /** Takes samples in order, any number at a time. @returns the digits that ended in them */
  feed(samples: Int16Array): readonly DetectedDigit[] {
    const ended: DetectedDigit[] = [];
    for (let start = 0; start < samples.length; ) {
      const count = Math.min(samples.length - start, this.#block.length - this.#filled);
      this.#block.set(samples.subarray(start, start + count), this.#filled);
      this.#filled += count;
      start += count;
      if (this.#filled < this.#block.length) break;
      const digit = this.#take(this.#analyse());
      if (digit !== undefined) ended.push(digit);
      this.#filled /= 2;
      this.#block.copyWithin(0, this.#filled);
    }
    return ended;
  }

  #take(hit: Hit | undefined): DetectedDigit | undefined {
    this.#count(hit);
    if (this.#digit !== undefined) this.#length += 1;
    if (this.#digit !== undefined && this.#candidate === this.#digit) {
      this.#misses = 0;
      return undefined;
    }
    this.#misses += 1;
    const begins = this.#hits === HITS;
    const ended = begins || this.#misses === MISSES ? this.#end() : undefined;
    if (begins) {
      this.#digit = this.#candidate;
      this.#length = HITS + 1;
      this.#misses = 0;
    }
    return ended;
  }

  #count(hit: Hit | undefined): void {
    const { digit = '', amplitude = 0 } = hit ?? {};
    const ratio = Math.min(amplitude, this.#amplitude) / Math.max(amplitude, this.#amplitude, 1);
    const continued = digit === this.#candidate && ratio >= MIN_STEADY;
    this.#hits = continued ? this.#hits + 1 : digit === '' ? 0 : 1;
    this.#candidate = digit;
    this.#amplitude = amplitude;
  }

  #end(): DetectedDigit | undefined {
    const digit = this.#digit;
    this.#digit = undefined;
    if (digit === undefined) return undefined;
    const halves = this.#length - this.#misses;
    return { digit, duration: Math.round((halves * this.#block.length * 500) / this.#rate) };
  }

  #analyse(): Hit | undefined {
    let total = 0;
    for (const sample of this.#block) total += sample * sample;
    const { length } = this.#block;
    // The sum of squares of a tone of the least amplitude.
    if (total < (MIN_AMPLITUDE * MIN_AMPLITUDE * length) / 2) return undefined;
    const low = this.#strongest(this.#low);
    const high = this.#strongest(this.#high);
    if (low === undefined || high === undefined) return undefined;
    if (low.power > high.power * MAX_TWIST || high.power > low.power * MAX_TWIST) return undefined;
    // The power of a tone is (amplitude * length / 2)²; its part of the sum of squares is amplitude² * length / 2.
    const weaker = (2 * Math.sqrt(Math.min(low.power, high.power))) / length;
    const share = (2 * (low.power + high.power)) / (length * total);
    if (weaker < MIN_AMPLITUDE || share < MIN_SHARE) return undefined;
    const amplitude = (2 * Math.sqrt(low.power + high.power)) / length;
    return { digit: KEYS[low.index * 4 + high.index] as string, amplitude };
  }

  /** The strongest tone of a group; undefined when another one is nearly as strong. */
  #strongest(coefficients: readonly number[]): { readonly index: number; readonly power: number } | undefined {
    const powers = coefficients.map((each) => this.#powerAt(each));
    const power = Math.max(...powers);
    const index = powers.indexOf(power);
    const rivals = powers.some((other, at) => at !== index && other * MIN_RELATIVE > power);
    return rivals ? undefined : { index, power };
  }

  /** Goertzel's algorithm. */
  #powerAt(coefficient: number): number {
    let before = 0;
    let last = 0;
    for (const sample of this.#block) {
      const next = sample + coefficient * last - before;
      before = last;
      last = next;
    }
    return last * last + before * before - coefficient * last * before;
  }
}
