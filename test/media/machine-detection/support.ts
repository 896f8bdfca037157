/** Sounds of answering machines, 8 kHz linear, and the usual limits. */
import type { AnsweringLimits } from '../../../runtime/media/machine-detection/answering.ts';

const SAMPLES_A_MS = 8;

export const GREETING = 'Nobody is here. Please leave your name and number after the tone.';

/** The defaults of Asterisk's AMD, and those of the component. */
export const LIMITS: AnsweringLimits = {
  initialSilenceMs: 2500,
  greetingMs: 1500,
  afterGreetingSilenceMs: 800,
  totalMs: 5000,
  minWordMs: 100,
  maxWordMs: 5000,
  betweenWordsMs: 50,
  maxWords: 2,
  silenceThreshold: 256,
  endMs: 30_000,
  endSilenceMs: 2500,
};

export function quiet(ms: number): Int16Array {
  return new Int16Array(ms * SAMPLES_A_MS);
}

/** Noise of the same level in every frame, from a generator with a fixed seed. */
export function noise(ms: number, amplitude: number): Int16Array {
  let seed = 1;
  return quiet(ms).map(() => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.round((seed / 2 ** 30 - 1) * amplitude);
  });
}

/** A tone, with noise of this amplitude. */
export function beep(hz: number, ms: number, noisy = 0): Int16Array {
  const disturbance = noise(ms, noisy);
  return quiet(ms).map((_, at) => Math.round(6000 * Math.sin((2 * Math.PI * hz * at) / 8000)) + (disturbance[at] ?? 0));
}

export function joined(...sounds: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(sounds.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const sound of sounds) {
    whole.set(sound, at);
    at += sound.length;
  }
  return whole;
}
