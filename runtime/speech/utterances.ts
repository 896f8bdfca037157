/** Detects utterances by their level. */
import { SPEECH_RATE } from './engine.ts';

/** Frame of twenty milliseconds, the unit of detection. */
const FRAME = SPEECH_RATE / 50;
const FRAME_MS = 20;
/** Mean amplitude that speech must exceed, whatever the noise. */
const LEAST_LEVEL = 250;
/** Factor above the noise that counts as speech. */
const OVER_NOISE = 3;
/** Shorter speech counts as a click, in milliseconds. */
const LEAST_SPEECH_MS = 80;

/**
 * Distinguishes speech from silence by its level above the line's noise, and reports the beginning and end of
 * utterances. Input is sound, output are frames of 20 ms.
 */
export class SpeechDetector {
  readonly #silenceMs: number;
  #rest = new Int16Array(0);
  #noise = 60;
  #loudMs = 0;
  #quietMs = 0;
  #speaking = false;

  /** @param silenceMs silence that ends an utterance */
  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
  }

  get speaking(): boolean {
    return this.#speaking;
  }

  /** Processes more sound. Returns the changes, `begun` and `ended`, in order. */
  hear(samples: Int16Array): readonly ('begun' | 'ended')[] {
    const input = new Int16Array(this.#rest.length + samples.length);
    input.set(this.#rest);
    input.set(samples, this.#rest.length);
    const changes: ('begun' | 'ended')[] = [];
    let at = 0;
    for (; at + FRAME <= input.length; at += FRAME) {
      const change = this.#frame(levelOf(input.subarray(at, at + FRAME)));
      if (change !== undefined) changes.push(change);
    }
    this.#rest = input.slice(at);
    return changes;
  }

  #frame(level: number): 'begun' | 'ended' | undefined {
    const loud = level > Math.max(LEAST_LEVEL, this.#noise * OVER_NOISE);
    // The noise estimate rises slowly and falls quickly, so that speech does not become noise.
    if (!loud) this.#noise += (level - this.#noise) * (level < this.#noise ? 0.2 : 0.02);
    this.#loudMs = loud ? this.#loudMs + FRAME_MS : Math.max(0, this.#loudMs - FRAME_MS);
    this.#quietMs = loud ? 0 : this.#quietMs + FRAME_MS;
    if (!this.#speaking && this.#loudMs >= LEAST_SPEECH_MS) {
      this.#speaking = true;
      return 'begun';
    }
    if (this.#speaking && this.#quietMs >= this.#silenceMs) {
      this.#speaking = false;
      this.#loudMs = 0;
      return 'ended';
    }
    return undefined;
  }
}

function levelOf(frame: Int16Array): number {
  let sum = 0;
  for (const sample of frame) sum += Math.abs(sample);
  return sum / frame.length;
}
