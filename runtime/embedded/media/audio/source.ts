/** Sources of audio to play. */
import { type Rate, SAMPLE_RATE } from './format.ts';

/** A sound to play: a file, tones, silence, hold music. */
export interface AudioSource {
  /** Playback-File-Type in events; undefined for files. */
  readonly type: string | undefined;
  /** Samples a second. */
  readonly rate: Rate;
  /** Fills `target`; returns the samples written, 0 at the end. */
  read(target: Int16Array): number;
  /** The current sample, counted from the start of the sound: `playback_last_offset_pos`. */
  readonly position: number;
  /** True when the next read is known to return 0. */
  readonly exhausted: boolean;
  /** Samples taken from the source, read-ahead included: `playback_samples`. */
  readonly taken: number;
}

/** Samples that FreeSWITCH reads ahead from a file. `playback_ms` counts them before they are heard. */
const READ_AHEAD = 16_384;

/** A sound in memory, played from an offset. */
export class ClipSource implements AudioSource {
  readonly type = undefined;
  readonly rate: Rate;
  readonly #samples: Int16Array;
  readonly #start: number;
  #position: number;

  constructor(samples: Int16Array, offset: number, rate: Rate = SAMPLE_RATE) {
    this.rate = rate;
    this.#samples = samples;
    this.#start = Math.min(Math.max(0, offset), samples.length);
    this.#position = this.#start;
  }

  get position(): number {
    return this.#position;
  }

  get exhausted(): boolean {
    return this.#position >= this.#samples.length;
  }

  get taken(): number {
    const played = this.#position - this.#start;
    return Math.min(Math.ceil(played / READ_AHEAD) * READ_AHEAD, this.#samples.length - this.#start);
  }

  read(target: Int16Array): number {
    const count = Math.min(target.length, this.#samples.length - this.#position);
    target.set(this.#samples.subarray(this.#position, this.#position + count));
    this.#position += count;
    return count;
  }
}

/** A sound that is generated while it plays. */
export class GeneratedSource implements AudioSource {
  readonly type: string | undefined;
  readonly rate: Rate;
  readonly #read: (target: Int16Array) => number;
  readonly #isExhausted: () => boolean;
  #position = 0;

  constructor(type: string | undefined, rate: Rate, read: (target: Int16Array) => number, isExhausted = () => false) {
    this.type = type;
    this.rate = rate;
    this.#read = read;
    this.#isExhausted = isExhausted;
  }

  get exhausted(): boolean {
    return this.#isExhausted();
  }

  get position(): number {
    return this.#position;
  }

  get taken(): number {
    return this.#position;
  }

  read(target: Int16Array): number {
    const count = this.#read(target);
    this.#position += count;
    return count;
  }
}
