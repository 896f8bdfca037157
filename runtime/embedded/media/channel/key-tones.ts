/** Digits that a channel sends as tones in its sound. */
import { FRAME_SAMPLES, rateOf } from '../audio/format.ts';
import { RateConverter } from '../audio/rate-converter.ts';
import { parseToneScript, ToneGenerator } from '../audio/teletone.ts';
import type { ChannelAudio, Overlay } from './audio.ts';

/** Silence after each tone, ms: FreeSWITCH's. */
const PAUSE_MS = 60;

/** Largest number of waiting digits, as in FreeSWITCH. */
const MAX_WAITING = 100;

/** Replaces what the far end hears by the tones of digits, as long as there are any. */
export class KeyTones implements Overlay {
  readonly shared = false;
  readonly #audio: ChannelAudio;
  readonly #waiting: string[] = [];
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  readonly #converter = new RateConverter();
  #current: ToneGenerator | undefined;

  constructor(audio: ChannelAudio) {
    this.#audio = audio;
  }

  /**
   * Queues digits.
   * @param digits 0-9, *, #, A-D; others are ignored
   * @param milliseconds length of each tone
   */
  send(digits: string, milliseconds: number): void {
    const keys = digits.toUpperCase().replaceAll(/[^0-9A-D*#]/g, '');
    const scripts = Array.from(keys, (key) => `d=${milliseconds};w=${PAUSE_MS};${key}`);
    this.#waiting.push(...scripts.slice(0, MAX_WAITING - this.#waiting.length));
    this.#audio.overlay(this);
  }

  apply(samples: Int16Array): boolean {
    const next = this.#current ?? this.#begin();
    if (next === undefined) return false;
    const count = next.read(this.#frame);
    this.#frame.fill(0, count);
    samples.set(this.#converter.convert(this.#frame, rateOf(samples)));
    if (next.exhausted) this.#current = undefined;
    return this.#current !== undefined || this.#waiting.length > 0;
  }

  #begin(): ToneGenerator | undefined {
    const script = this.#waiting.shift();
    this.#current = script === undefined ? undefined : new ToneGenerator(parseToneScript(script));
    return this.#current;
  }
}
