/** The codec G.722 at 64 kbit/s: 16 kHz sound in two sub-bands (ITU-T G.722, mode 1). */
import type { Codec, Voice } from './codec.ts';
import { Band, clip } from './g722-band.ts';

/** Its clock is 8 kHz in RTP by an old mistake of RFC 1890 that is kept (RFC 3551 section 4.5.2). */
export const G722: Codec = { name: 'G722', payloadType: 9, rate: 16_000, clockRate: 8000, bitRate: 64_000 };

// Tables of section 6.2, in its order.
// biome-ignore-start format: tables
/** Decision levels of the lower band's quantizer. */
const Q6 = Int32Array.of(
  0,
  35,
  72,
  110,
  150,
  190,
  233,
  276,
  323,
  370,
  422,
  473,
  530,
  587,
  650,
  714,
  786,
  858,
  940,
  1023,
  1121,
  1219,
  1339,
  1458,
  1612,
  1765,
  1980,
  2195,
  2557,
  2919,
);
/** Its codes of negative and positive differences. */
const ILN = Int32Array.of(
  0,
  63,
  62,
  31,
  30,
  29,
  28,
  27,
  26,
  25,
  24,
  23,
  22,
  21,
  20,
  19,
  18,
  17,
  16,
  15,
  14,
  13,
  12,
  11,
  10,
  9,
  8,
  7,
  6,
  5,
  4,
);
const ILP = Int32Array.of(
  0,
  61,
  60,
  59,
  58,
  57,
  56,
  55,
  54,
  53,
  52,
  51,
  50,
  49,
  48,
  47,
  46,
  45,
  44,
  43,
  42,
  41,
  40,
  39,
  38,
  37,
  36,
  35,
  34,
  33,
  32,
);
/** Inverse quantizers of 4 and 6 bits. */
const QM4 = Int32Array.of(
  0,
  -20456,
  -12896,
  -8968,
  -6288,
  -4240,
  -2584,
  -1200,
  20456,
  12896,
  8968,
  6288,
  4240,
  2584,
  1200,
  0,
);
const QM6 = Int32Array.of(
  -136,
  -136,
  -136,
  -136,
  -24808,
  -21904,
  -19008,
  -16704,
  -14984,
  -13512,
  -12280,
  -11192,
  -10232,
  -9360,
  -8576,
  -7856,
  -7192,
  -6576,
  -6000,
  -5456,
  -4944,
  -4464,
  -4008,
  -3576,
  -3168,
  -2776,
  -2400,
  -2032,
  -1688,
  -1360,
  -1040,
  -728,
  24808,
  21904,
  19008,
  16704,
  14984,
  13512,
  12280,
  11192,
  10232,
  9360,
  8576,
  7856,
  7192,
  6576,
  6000,
  5456,
  4944,
  4464,
  4008,
  3576,
  3168,
  2776,
  2400,
  2032,
  1688,
  1360,
  1040,
  728,
  432,
  136,
  -432,
  -136,
);
/** Steps of the lower band's scale by its 4-bit code (WL of RL42). */
const LOW_STEP = Int32Array.of(-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60);
/** Inverse quantizer and steps of the higher band (QM2; WH of RH2). */
const QM2 = Int32Array.of(-7408, -1616, 7408, 1616);
const HIGH_STEP = Int32Array.of(798, -214, 798, -214);
/** The quadrature mirror filter. */
const QMF = Int32Array.of(3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11);
// biome-ignore-end format: tables

const TAPS = 24;

/** The filter's memory: `write` puts two samples at its end. */
class MirrorFilter {
  readonly #samples = new Int32Array(TAPS * 9);
  #at = 0;
  odd = 0;
  even = 0;

  /** Takes two samples, and sums up the odd and the even taps. */
  take(first: number, second: number): void {
    const samples = this.#samples;
    if (this.#at + TAPS === samples.length) {
      samples.copyWithin(0, this.#at + 2);
      this.#at = 0;
    } else this.#at += 2;
    const at = this.#at;
    samples[at + TAPS - 2] = first;
    samples[at + TAPS - 1] = second;
    let odd = 0;
    let even = 0;
    for (let tap = 0; tap < TAPS / 2; tap += 1) {
      odd += (samples[at + 2 * tap] as number) * (QMF[tap] as number);
      even += (samples[at + 2 * tap + 1] as number) * (QMF[TAPS / 2 - 1 - tap] as number);
    }
    this.odd = odd;
    this.even = even;
  }
}

/** Encodes 16 kHz sound, one octet for two samples. */
export class G722Encoder {
  readonly #filter = new MirrorFilter();
  readonly #low = new Band(true);
  readonly #high = new Band(false);

  encode(samples: Int16Array, target: Uint8Array, offset: number): number {
    const count = samples.length >> 1;
    for (let index = 0; index < count; index += 1) {
      this.#filter.take(samples[2 * index] as number, samples[2 * index + 1] as number);
      const { odd, even } = this.#filter;
      target[offset + index] = (this.#higher((even - odd) >> 14) << 6) | this.#lower((even + odd) >> 14);
    }
    return count;
  }

  #lower(sample: number): number {
    const { det } = this.#low;
    const difference = clip(sample - this.#low.s);
    const size = difference >= 0 ? difference : -(difference + 1);
    let level = 1;
    while (level < 30 && size >= ((Q6[level] as number) * det) >> 12) level += 1;
    const code = (difference < 0 ? ILN[level] : ILP[level]) as number;
    this.#low.adapt((det * (QM4[code >> 2] as number)) >> 15, LOW_STEP[code >> 2] as number);
    return code;
  }

  #higher(sample: number): number {
    const { det } = this.#high;
    const difference = clip(sample - this.#high.s);
    const size = difference >= 0 ? difference : -(difference + 1);
    const isLarge = size >= (564 * det) >> 12;
    const code = difference < 0 ? (isLarge ? 0 : 1) : isLarge ? 2 : 3;
    this.#high.adapt((det * (QM2[code] as number)) >> 15, HIGH_STEP[code] as number);
    return code;
  }
}

/** Decodes to 16 kHz sound. */
export class G722Decoder {
  readonly #filter = new MirrorFilter();
  readonly #low = new Band(true);
  readonly #high = new Band(false);

  /** @returns samples written to `target` */
  decode(payload: Uint8Array, target: Int16Array): number {
    const count = Math.min(payload.length, target.length >> 1);
    for (let index = 0; index < count; index += 1) {
      const code = payload[index] as number;
      const low = this.#lower(code & 0x3f);
      const high = this.#higher(code >> 6);
      this.#filter.take(low + high, low - high);
      target[2 * index] = clip(this.#filter.even >> 11);
      target[2 * index + 1] = clip(this.#filter.odd >> 11);
    }
    return 2 * count;
  }

  #lower(code: number): number {
    const { s, det } = this.#low;
    const sample = within14(s + ((det * (QM6[code] as number)) >> 15));
    this.#low.adapt((det * (QM4[code >> 2] as number)) >> 15, LOW_STEP[code >> 2] as number);
    return sample;
  }

  #higher(code: number): number {
    const { s, det } = this.#high;
    const difference = (det * (QM2[code] as number)) >> 15;
    this.#high.adapt(difference, HIGH_STEP[code] as number);
    return within14(s + difference);
  }
}

/** Saturates to the 15 bits of a sub-band. */
function within14(value: number): number {
  return value > 16_383 ? 16_383 : value < -16_384 ? -16_384 : value;
}

const SILENCE = new Int16Array(320);

/** Encoder and decoder of a leg. */
export class G722Voice implements Voice {
  readonly #encoder = new G722Encoder();
  readonly #decoder = new G722Decoder();

  decode(payload: Uint8Array, target: Int16Array): number {
    return this.#decoder.decode(payload, target);
  }

  conceal(): number {
    return 0;
  }

  encode(frame: Int16Array | undefined, target: Uint8Array, offset: number): number {
    return this.#encoder.encode(frame ?? SILENCE, target, offset);
  }

  free(): void {
    // Its memory is the garbage collector's.
  }
}
