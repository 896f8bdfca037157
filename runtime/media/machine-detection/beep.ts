/** Finds the beep of a mailbox: one pure tone of any frequency, unlike a voice. */

const RATE = 8000;
/** Frequencies of beeps; voices have their strongest partials below. */
const LOWEST_HZ = 350;
const HIGHEST_HZ = 2600;
/** Part of the power that a tone has at its own frequency. */
const PURE = 0.85;
/** Hertz by which the measured frequency of one tone may vary. */
const STABLE_HZ = 30;
/** Milliseconds of a beep at least. */
const LEAST_MS = 120;
/** The search around the estimated frequency. */
const STEP_HZ = 10;
const STEPS = 6;

/** Follows the sound, one frame at a time. */
export class BeepDetector {
  #hz = 0;
  #toneMs = 0;

  /** A tone sounds that is long enough for a beep. */
  get sounding(): boolean {
    return this.#toneMs >= LEAST_MS;
  }

  /** @returns true with the frame after a beep */
  frame(samples: Int16Array, frameMs: number): boolean {
    const hz = toneOf(samples);
    if (hz !== undefined && Math.abs(hz - this.#hz) <= STABLE_HZ) {
      this.#toneMs += frameMs;
      return false;
    }
    const ended = this.sounding;
    this.#hz = hz ?? 0;
    this.#toneMs = hz === undefined ? 0 : frameMs;
    return ended;
  }
}

/** The frequency of a pure tone; undefined for any other sound. */
export function toneOf(samples: Int16Array): number | undefined {
  const estimate = estimated(samples);
  if (estimate === undefined) return undefined;
  let best = { hz: 0, part: 0 };
  for (let step = -STEPS; step <= STEPS; step += 1) {
    const hz = estimate + step * STEP_HZ;
    const part = partAt(samples, hz);
    if (part > best.part) best = { hz, part };
  }
  return best.part >= PURE && best.hz >= LOWEST_HZ && best.hz <= HIGHEST_HZ ? best.hz : undefined;
}

/** The frequency w of the best x[n+1] + x[n-1] = 2 cos(w) x[n], which holds for a sine. */
function estimated(samples: Int16Array): number | undefined {
  let power = 0;
  let product = 0;
  for (let at = 1; at + 1 < samples.length; at += 1) {
    const here = samples[at] ?? 0;
    power += here * here;
    product += here * ((samples[at - 1] ?? 0) + (samples[at + 1] ?? 0));
  }
  const cosine = power === 0 ? 1 : product / power / 2;
  return Math.abs(cosine) >= 1 ? undefined : (Math.acos(cosine) * RATE) / (2 * Math.PI);
}

/** Part of the power at one frequency. */
function partAt(samples: Int16Array, hz: number): number {
  const turn = (2 * Math.PI * hz) / RATE;
  let [real, imaginary, power] = [0, 0, 0];
  for (const [at, sample] of samples.entries()) {
    real += sample * Math.cos(turn * at);
    imaginary += sample * Math.sin(turn * at);
    power += sample * sample;
  }
  return power === 0 ? 0 : (2 * (real * real + imaginary * imaginary)) / (samples.length * power);
}
