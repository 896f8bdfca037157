/** One of the two sub-bands of G.722: its adaptive predictor and quantizer scale (ITU-T G.722 section 3). */

/** Logarithmic table of the scale factors. */
// biome-ignore format: a table
const ILB = Int32Array.of(
  2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834,
  2896, 2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
);

/** Names of the values follow the recommendation, section 6.2.1. */
export class Band {
  /** Predicted sample. */
  s = 0;
  /** Scale factor of the quantizer. */
  det: number;
  #sz = 0;
  #nb = 0;
  readonly #shift: number;
  readonly #mostNb: number;
  readonly #r = new Int32Array(3);
  readonly #a = new Int32Array(3);
  readonly #p = new Int32Array(3);
  readonly #d = new Int32Array(7);
  readonly #b = new Int32Array(7);

  /** @param isLower whether it is the band below 4 kHz */
  constructor(isLower: boolean) {
    this.det = isLower ? 32 : 8;
    this.#shift = isLower ? 8 : 10;
    this.#mostNb = isLower ? 18_432 : 22_528;
  }

  /** Adapts to a quantized difference. @param step logarithmic step of the scale (LOGSCL, LOGSCH) */
  adapt(difference: number, step: number): void {
    const nb = ((this.#nb * 127) >> 7) + step;
    this.#nb = nb < 0 ? 0 : nb > this.#mostNb ? this.#mostNb : nb;
    const shift = this.#shift - (this.#nb >> 11);
    const base = ILB[(this.#nb >> 6) & 31] as number;
    this.det = (shift < 0 ? base << -shift : base >> shift) << 2;
    this.#predict(difference);
  }

  /** Block 4: updates both filters, and predicts the next sample. */
  #predict(difference: number): void {
    const [r, a, p, d, b] = [this.#r, this.#a, this.#p, this.#d, this.#b];
    d[0] = difference;
    r[0] = clip(this.s + difference);
    p[0] = clip(this.#sz + difference);
    this.#updatePoles(a, p);
    const step = difference === 0 ? 0 : 128;
    const sign = difference >> 15;
    let sz = 0;
    // Shifts by hand: copyWithin costs more than all the rest.
    for (let index = 6; index > 0; index -= 1) {
      const change = (d[index] as number) >> 15 === sign ? step : -step;
      const tap = clip(change + (((b[index] as number) * 32_640) >> 15));
      const older = d[index - 1] as number;
      b[index] = tap;
      d[index] = older;
      sz += (tap * clip(2 * older)) >> 15;
    }
    r[2] = r[1] as number;
    r[1] = r[0];
    p[2] = p[1] as number;
    p[1] = p[0];
    const first = ((a[1] as number) * clip(2 * r[1])) >> 15;
    const second = ((a[2] as number) * clip(2 * r[2])) >> 15;
    this.#sz = clip(sz);
    this.s = clip(clip(first + second) + this.#sz);
  }

  #updatePoles(a: Int32Array, p: Int32Array): void {
    const sign = (p[0] as number) >> 15;
    const same = sign === (p[1] as number) >> 15;
    const fourfold = clip((a[1] as number) << 2);
    const turned = Math.min(32_767, same ? -fourfold : fourfold);
    let second = (sign === (p[2] as number) >> 15 ? 128 : -128) + (turned >> 7) + (((a[2] as number) * 32_512) >> 15);
    second = second > 12_288 ? 12_288 : second < -12_288 ? -12_288 : second;
    const most = clip(15_360 - second);
    const first = clip((same ? 192 : -192) + (((a[1] as number) * 32_640) >> 15));
    a[1] = first > most ? most : first < -most ? -most : first;
    a[2] = second;
  }
}

/** Saturates to 16 bits. */
export function clip(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : value;
}
