/** Tone detection on a channel. */
import { FRAME_MS, FRAME_SAMPLES, SAMPLE_RATE } from '../audio/format.ts';
import { powerShare } from '../audio/goertzel.ts';
import { energy } from '../audio/mix.ts';
import type { Channel } from '../channel/channel.ts';
import { HeardAudio } from '../channel/heard-audio.ts';
import type { MediaTap } from '../channel/tap.ts';

/** Two frames: 25 Hz of resolution. */
const BLOCK_FRAMES = 2;

/** Smallest share of the power of the wanted frequencies together. */
const SHARE = 0.6;

/** Smallest energy for a detection. */
const MIN_ENERGY = 200;

/** Largest number of taps of one channel; with more no further detection starts. */
const MAX_TAPS = 8;

/** Arguments of `tone_detect`. */
export interface ToneDetectRules {
  readonly key: string;
  readonly frequencies: readonly number[];
  /** `r`: what the far end says; `w`: what it hears. */
  readonly direction: 'r' | 'w';
  /** Timeout in seconds; 0 for none. */
  readonly seconds: number;
  /** Application to run when the tone is heard. */
  readonly application: string;
  readonly data: string;
  /** Number of consecutive blocks with the tone. */
  readonly hits: number;
}

/**
 * Reads `<key> <f1,f2,...> [r|w [+<seconds> [<application> <data> [<hits>]]]]`.
 *
 * @returns undefined without a key, or with a frequency outside of 50 to 4000 Hz
 */
export function parseToneDetect(given: readonly string[]): ToneDetectRules | undefined {
  const [key = '', list = '', flags = '', timeout = '', application = '', data = '', last = ''] = given;
  const frequencies = list.split(',').map(Number);
  if (key === '' || list === '' || frequencies.some((each) => !(each >= 50 && each < 4000))) return undefined;
  const hits = Number(last);
  return {
    key,
    frequencies,
    direction: flags.includes('w') && !flags.includes('r') ? 'w' : 'r',
    seconds: Number(/^\+?(\d{1,6})$/.exec(timeout)?.[1] ?? 0),
    application,
    data,
    hits: Number.isInteger(hits) && hits > 0 && hits < 100 ? hits : 1,
  };
}

/**
 * Detects a tone on a channel, and publishes DETECTED_TONE. As in FreeSWITCH, a detection reports its tone only once.
 */
export class ToneDetection implements MediaTap {
  readonly #channel: Channel;
  readonly #rules: ToneDetectRules;
  readonly #heard: HeardAudio | undefined;
  readonly #release: () => void;
  readonly #block = new Int16Array(FRAME_SAMPLES * BLOCK_FRAMES);
  #filled = 0;
  #hits = 0;
  #framesLeft: number;

  private constructor(channel: Channel, rules: ToneDetectRules) {
    this.#channel = channel;
    this.#rules = rules;
    this.#heard = rules.direction === 'w' ? new HeardAudio(channel) : undefined;
    this.#release = channel.audio.listen();
    this.#framesLeft = rules.seconds === 0 ? Number.POSITIVE_INFINITY : (rules.seconds * 1000) / FRAME_MS;
  }

  /** Starts a detection on a channel. */
  static start(channel: Channel, rules: ToneDetectRules): void {
    if (channel.taps.size < MAX_TAPS) channel.taps.add(new ToneDetection(channel, rules));
  }

  /** Ends every detection on a channel. */
  static stopAll(channel: Channel): void {
    for (const tap of channel.taps) if (tap instanceof ToneDetection) tap.end();
  }

  tick(): void {
    this.#framesLeft -= 1;
    if (this.#framesLeft < 0) this.end();
    const frame = this.#heard === undefined ? this.#channel.audio.read(SAMPLE_RATE) : this.#heard.frame(SAMPLE_RATE);
    if (frame === undefined) return;
    this.#block.set(frame, this.#filled);
    this.#filled += FRAME_SAMPLES;
    if (this.#filled < this.#block.length) return;
    this.#filled = 0;
    this.#hits = this.#hasTone() ? this.#hits + 1 : 0;
    if (this.#hits >= this.#rules.hits) this.#detected();
  }

  end(): void {
    this.#heard?.release();
    this.#release();
    this.#channel.taps.delete(this);
  }

  #hasTone(): boolean {
    const { frequencies } = this.#rules;
    const shares = frequencies.map((frequency) => powerShare(this.#block, frequency));
    const together = shares.reduce((sum, share) => sum + share, 0);
    const each = shares.every((share) => share > SHARE / (2 * shares.length));
    return energy(this.#block) >= MIN_ENERGY && each && together >= SHARE;
  }

  #detected(): void {
    const { key, application, data } = this.#rules;
    const tone = { 'Detected-Tone': key };
    const { bus, identity } = this.#channel.core;
    this.end();
    if (application !== '') this.#channel.enqueue(application, data);
    // Two events: one without a channel, and one for the channel's own listeners.
    bus.publish('DETECTED_TONE', () => ({ ...identity.eventHeaders('DETECTED_TONE'), ...tone }));
    this.#channel.publish('DETECTED_TONE', { first: tone, variables: false });
  }
}
