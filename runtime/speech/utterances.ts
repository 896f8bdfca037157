import { SPEECH_RATE } from './engine.ts';

/** Twenty milliseconds, in which speech is told from silence. */
const FRAME = SPEECH_RATE / 50;
const FRAME_MS = 20;
/** Mean amplitude above which something may be speech, whatever the noise. */
const LEAST_LEVEL = 250;
/** So many times the noise is speech. */
const OVER_NOISE = 3;
/** Speech that is shorter is a click, in milliseconds. */
const LEAST_SPEECH_MS = 80;

/**
 * Tells speech from silence by its level, against the noise of the line: when somebody begins to speak, and when
 * somebody has been silent for a while. Sound in, frames of 20 ms out.
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

  /** Looks at more sound. Gives what has changed: `begun` and `ended` in the order in which they happened. */
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
    // Noise is learnt slowly upwards and quickly downwards: speech must not become the noise.
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
