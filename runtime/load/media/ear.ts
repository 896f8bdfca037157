/** What a phone of the load hears. */
import { CALLER_TONES, type Heard, recognise, REPLY_TONES, WAITING_TONE } from './tones.ts';

/** Packets of 20 ms with the same sound, in a row, that count as heard: one alone may be cut or mixed. */
const IN_A_ROW = 3;

/** Listens packet by packet until it has heard what it waits for. */
export class Ear {
  /** Frequencies and other sounds that were heard. */
  readonly heard = new Set<Heard>();
  readonly #listening: (sound: Heard, began: number) => void;
  readonly #likely: number;
  #last: Heard | undefined;
  #row = 0;
  #rowBegan = 0;

  /**
   * @param likely the frequency most packets have
   * @param listening takes each sound once, when it is heard for the first time, and when its first packet came
   */
  constructor(likely: number, listening: (sound: Heard, began: number) => void) {
    this.#likely = likely;
    this.#listening = listening;
  }

  /** @param now milliseconds of a monotonic clock */
  hear(payload: Uint8Array, payloadType: number, now: number): void {
    const sound = recognise(payload, payloadType, typeof this.#last === 'number' ? this.#last : this.#likely);
    if (sound !== this.#last) {
      this.#row = 0;
      this.#rowBegan = now;
    }
    this.#row += 1;
    this.#last = sound;
    if (this.#row < IN_A_ROW || this.heard.has(sound)) return;
    this.heard.add(sound);
    this.#listening(sound, this.#rowBegan);
  }
}

/** What a caller heard, compared with what it should hear. */
export type SoundVerdict = 'right' | 'none' | 'one-way' | 'wrong';

/**
 * @param expected a frequency, or any sound
 * @returns `one-way`: the called phone is heard, and does not hear the caller
 */
export function verdictOf(heard: ReadonlySet<Heard>, expected: number | 'any'): SoundVerdict {
  const sounds = [...heard].filter((sound) => sound !== 'silence');
  if (sounds.length === 0) return 'none';
  if (expected === 'any') return 'right';
  // A tone of another call is wrong also beside the right one.
  if (sounds.some((sound) => sound !== expected && (isReply(sound) || isCaller(sound)))) return 'wrong';
  if (sounds.includes(expected)) return 'right';
  return sounds.includes(WAITING_TONE) ? 'one-way' : 'wrong';
}

/** Index of a caller's tone; undefined for another sound. */
export function callerToneOf(sound: Heard): number | undefined {
  const index = (CALLER_TONES as readonly Heard[]).indexOf(sound);
  return index < 0 ? undefined : index;
}

function isCaller(sound: Heard): boolean {
  return callerToneOf(sound) !== undefined;
}

function isReply(sound: Heard): boolean {
  return (REPLY_TONES as readonly Heard[]).includes(sound);
}
