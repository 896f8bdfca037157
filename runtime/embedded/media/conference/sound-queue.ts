/** A queue of sounds. */
import type { AudioSource } from '../audio/source.ts';
import { frameSamples, type Rate } from '../audio/format.ts';
import { RateConverter } from '../audio/rate-converter.ts';

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
  #frame = new Int16Array(0);
  readonly #converter = new RateConverter();
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
    for (const sound of stopped) this.#onDone(sound, figuresOf(sound.source));
    return stopped.length;
  }

  /** The next frame; undefined when no sound is playing. @param rate samples a second of the mix */
  next(rate: Rate): Int16Array | undefined {
    const sound = this.#queue[0];
    if (sound === undefined) return undefined;
    const size = frameSamples(sound.source.rate);
    if (this.#frame.length !== size) this.#frame = new Int16Array(size);
    const count = sound.source.read(this.#frame);
    this.#frame.fill(0, count);
    if (count < size || sound.source.exhausted) {
      this.#queue.shift();
      this.#onDone(sound, figuresOf(sound.source));
    }
    return count > 0 ? this.#converter.convert(this.#frame, rate) : undefined;
  }
}

/** FreeSWITCH counts each sample of a conference sound twice, and so do these figures, which clients show. */
function figuresOf({ position, rate }: AudioSource): SoundFigures {
  const samples = position * 2;
  return {
    seconds: Math.floor(samples / rate),
    milliseconds: Math.floor((samples * 1000) / rate),
    samples,
  };
}
