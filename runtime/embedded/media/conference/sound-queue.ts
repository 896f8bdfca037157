import type { AudioSource } from '../audio/source.ts';
import { FRAME_SAMPLES, SAMPLE_RATE } from '../audio/format.ts';

/** A sound that is to be heard in a conference or by one member. */
export interface QueuedSound {
  readonly file: string;
  readonly source: AudioSource;
}

/** What a finished sound reports. */
export interface SoundFigures {
  readonly seconds: number;
  readonly milliseconds: number;
  readonly samples: number;
}

/** Plays sounds one after the other, a frame at a time. */
export class SoundQueue {
  readonly #queue: QueuedSound[] = [];
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  readonly #onDone: (sound: QueuedSound, figures: SoundFigures) => void;

  constructor(onDone: (sound: QueuedSound, figures: SoundFigures) => void) {
    this.#onDone = onDone;
  }

  get length(): number {
    return this.#queue.length;
  }

  add(sound: QueuedSound): void {
    this.#queue.push(sound);
  }

  /** Drops the sound being played, or all; returns how many. */
  stop(all: boolean): number {
    const stopped = this.#queue.splice(0, all ? this.#queue.length : 1);
    for (const sound of stopped) this.#onDone(sound, figuresOf(sound.source.position));
    return stopped.length;
  }

  /** The next frame; undefined when nothing is played. */
  next(): Int16Array | undefined {
    const sound = this.#queue[0];
    if (sound === undefined) return undefined;
    const count = sound.source.read(this.#frame);
    this.#frame.fill(0, count);
    if (count < FRAME_SAMPLES || sound.source.exhausted) {
      this.#queue.shift();
      this.#onDone(sound, figuresOf(sound.source.position));
    }
    return count > 0 ? this.#frame : undefined;
  }
}

/** The real server counts every sample of a conference sound twice; clients show its figures, so these do too. */
function figuresOf(position: number): SoundFigures {
  const samples = position * 2;
  return {
    seconds: Math.floor(samples / SAMPLE_RATE),
    milliseconds: Math.floor((samples * 1000) / SAMPLE_RATE),
    samples,
  };
}
