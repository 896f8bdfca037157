/** Digits in the sound of a channel's far end. */
import { DtmfDetector } from '../audio/dtmf-detector.ts';
import { FRAME_SAMPLES, SAMPLE_RATE } from '../audio/format.ts';
import type { Channel } from '../channel/channel.ts';
import type { MediaTap } from '../channel/tap.ts';

/** Frames without a packet that are taken for lost ones, which need not end a digit; further ones are silence. */
const LOST_FRAMES = 1;

/** Event durations are in units of 1/8 ms. */
const UNITS = 8;

const SILENCE = new Int16Array(FRAME_SAMPLES);

/** Reports the digits that a far end sends as tones, until the channel ends. */
export class InbandDigits implements MediaTap {
  readonly #channel: Channel;
  readonly #detector = new DtmfDetector(SAMPLE_RATE);
  readonly #release: () => void;
  #missing = 0;

  private constructor(channel: Channel) {
    this.#channel = channel;
    this.#release = channel.audio.listen();
  }

  /** Starts the detection on a channel, unless it runs. */
  static start(channel: Channel): void {
    for (const tap of channel.taps) if (tap instanceof InbandDigits) return;
    channel.taps.add(new InbandDigits(channel));
  }

  static stop(channel: Channel): void {
    for (const tap of channel.taps) if (tap instanceof InbandDigits) tap.end();
  }

  tick(): void {
    const frame = this.#channel.audio.read(SAMPLE_RATE);
    this.#missing = frame === undefined ? this.#missing + 1 : 0;
    if (frame === undefined && this.#missing <= LOST_FRAMES) return;
    for (const { digit, duration } of this.#detector.feed(frame ?? SILENCE)) {
      this.#channel.receiveDigit(digit, duration * UNITS, 'INBAND_AUDIO');
    }
  }

  end(): void {
    this.#release();
    this.#channel.taps.delete(this);
  }
}
