import type { Rate } from '../audio/format.ts';
import { bridgedTo } from './bridged.ts';
import type { Channel } from './channel.ts';

/**
 * The audio that the far end of a channel hears: from its application or, in a bridge, from the other leg. The other
 * leg's audio is buffered only while this object is in use.
 */
export class HeardAudio {
  readonly #channel: Channel;
  readonly #onlyBridge: boolean;
  #other: Channel | undefined;
  #release: (() => void) | undefined;

  constructor(channel: Channel, onlyBridge = false) {
    this.#channel = channel;
    this.#onlyBridge = onlyBridge;
  }

  /** Only the audio of the bridge's other leg. */
  static ofBridge(channel: Channel): HeardAudio {
    return new HeardAudio(channel, true);
  }

  /**
   * The frame of this tick; undefined for silence.
   * @param rate samples a second; by default that of the channel
   */
  frame(rate: Rate = this.#channel.audio.rate): Int16Array | undefined {
    const other = bridgedTo(this.#channel);
    if (other !== this.#other) {
      this.release();
      this.#other = other;
      this.#release = other?.audio.listen();
    }
    const written = this.#onlyBridge ? undefined : this.#channel.audio.written(rate);
    return written ?? other?.audio.read(rate);
  }

  release(): void {
    this.#release?.();
    this.#release = undefined;
    this.#other = undefined;
  }
}
