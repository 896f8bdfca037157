import { FRAME_SAMPLES } from '../audio/format.ts';
import { powerShare } from '../audio/goertzel.ts';
import { energy } from '../audio/mix.ts';
import type { Channel } from '../channel/channel.ts';
import type { MediaTap } from '../channel/tap.ts';

/** Two frames: 25 Hz of resolution. */
const BLOCK_FRAMES = 2;

/** Share of the power that the wanted frequencies must have together. */
const SHARE = 0.6;

/** Energy below which nothing is detected. */
const MIN_ENERGY = 200;

/** Arguments of `tone_detect`. */
export interface ToneDetectRules {
  readonly key: string;
  readonly frequencies: readonly number[];
  /** Blocks in a row that must have the tone. */
  readonly hits: number;
}

/**
 * Reads `<key> <f1,f2,...> [r|w] [+<seconds>] [<application> <data>] [<hits>]`.
 *
 * @returns undefined without a key and a frequency
 */
export function parseToneDetect(data: string): ToneDetectRules | undefined {
  const [key = '', list = '', ...rest] = data.trim().split(/\s+/);
  const frequencies = list.split(',').map(Number);
  if (key === '' || list === '' || frequencies.some((each) => !(each >= 50 && each < 4000))) return undefined;
  const hits = Number(rest.at(-1));
  return { key, frequencies, hits: Number.isInteger(hits) && hits > 0 && hits < 100 ? hits : 1 };
}

/** Looks for a tone in what the far end says, and tells with DETECTED_TONE each time it begins. */
export class ToneDetection implements MediaTap {
  readonly #channel: Channel;
  readonly #rules: ToneDetectRules;
  readonly #release: () => void;
  readonly #block = new Int16Array(FRAME_SAMPLES * BLOCK_FRAMES);
  #filled = 0;
  #hits = 0;

  private constructor(channel: Channel, rules: ToneDetectRules) {
    this.#channel = channel;
    this.#rules = rules;
    this.#release = channel.audio.listen();
  }

  /** Starts looking on a channel. */
  static start(channel: Channel, rules: ToneDetectRules): void {
    channel.taps.add(new ToneDetection(channel, rules));
  }

  /** Ends every detection on a channel. */
  static stopAll(channel: Channel): void {
    for (const tap of channel.taps) if (tap instanceof ToneDetection) tap.end();
  }

  tick(): void {
    const frame = this.#channel.audio.read();
    if (frame === undefined) return;
    this.#block.set(frame, this.#filled);
    this.#filled += FRAME_SAMPLES;
    if (this.#filled < this.#block.length) return;
    this.#filled = 0;
    const { frequencies, hits, key } = this.#rules;
    const shares = frequencies.map((frequency) => powerShare(this.#block, frequency));
    const together = shares.reduce((sum, share) => sum + share, 0);
    const each = shares.every((share) => share > SHARE / (2 * shares.length));
    this.#hits = energy(this.#block) >= MIN_ENERGY && each && together >= SHARE ? this.#hits + 1 : 0;
    if (this.#hits === hits) this.#channel.publish('DETECTED_TONE', { last: { 'Detected-Tone': key } });
  }

  end(): void {
    this.#release();
    this.#channel.taps.delete(this);
  }
}
