/** A limiter for sums of voices. */

/** Highest output level, a little below full scale. */
const CEILING = 31_000;

/** Share of the missing gain that returns with each frame: recovery takes about half a second. */
const RELEASE = 0.05;

/**
 * Fits a sum of voices into 16 bits without clipping: the gain falls at once for a loud frame, and returns slowly.
 */
export class Limiter {
  #gain = 1;

  get gain(): number {
    return this.#gain;
  }

  /** Writes `sum` into `target` with the gain of this frame. */
  apply(sum: Int32Array, target: Int16Array): void {
    let peak = 0;
    for (const sample of sum) {
      const level = sample < 0 ? -sample : sample;
      if (level > peak) peak = level;
    }
    const allowed = peak > CEILING ? CEILING / peak : 1;
    this.#gain = allowed < this.#gain ? allowed : Math.min(allowed, this.#gain + (1 - this.#gain) * RELEASE);
    if (this.#gain > 0.999) this.#gain = allowed < 1 ? allowed : 1;
    const gain = this.#gain;
    if (gain === 1) target.set(sum);
    else
      for (let index = 0; index < target.length; index += 1) target[index] = Math.trunc((sum[index] as number) * gain);
  }
}
