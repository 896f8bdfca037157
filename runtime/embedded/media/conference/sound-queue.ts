/** A queue of sounds. */
import type { AudioSource } from '../audio/source.ts';
import { FRAME_SAMPLES, SAMPLE_RATE } from '../audio/format.ts';

/** A sound to play to a conference or to one member. */
export interface QueuedSound {
  readonly file: string;
  readonly source: AudioSource;
}

/** Figures of a finished sound. */
export interface SoundFigures {
  readonly seconds: number;
  readonly milliseconds: number;
  readonly samples: number;
}

/** Plays sounds one after the other, frame by frame. */
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

  /** Drops the current sound, or all sounds; returns their number. */
  stop(all: boolean): number {
    const stopped = this.#queue.splice(0, all ? this.#queue.length : 1);
    for (const sound of stopped) this.#onDone(sound, figuresOf(sound.source.position));
    return stopped.length;
  }

  /** The next frame; undefined when no sound is playing. */
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

/** FreeSWITCH counts each sample of a conference sound twice, and so do these figures, which clients show. */
function figuresOf(position: number): SoundFigures {
  const samples = position * 2;
  return {
    seconds: Math.floor(samples / SAMPLE_RATE),
    milliseconds: Math.floor((samples * 1000) / SAMPLE_RATE),
    samples,
  };
}
