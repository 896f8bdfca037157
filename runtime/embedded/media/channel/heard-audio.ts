import { bridgedTo } from './bridged.ts';
import type { Channel } from './channel.ts';

/**
 * What the far end of a channel hears: what its application sends, or, in a bridge, what the other leg says. The other
 * leg's audio is only kept while somebody listens to it here.
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

  /** What the other leg of a bridge says, without what is sent here. */
  static ofBridge(channel: Channel): HeardAudio {
    return new HeardAudio(channel, true);
  }

  /** This tick's frame; undefined for silence. */
  frame(): Int16Array | undefined {
    const other = bridgedTo(this.#channel);
    if (other !== this.#other) {
      this.release();
      this.#other = other;
      this.#release = other?.audio.listen();
    }
    const written = this.#onlyBridge ? undefined : this.#channel.audio.written();
    return written ?? other?.audio.read();
  }

  release(): void {
    this.#release?.();
    this.#release = undefined;
    this.#other = undefined;
  }
}
