/** The encoder and decoder of a session, for codecs with a state. */
import type { Codec, FormatParameters, Voice } from '../audio/codec.ts';
import { openVoice } from '../audio/codecs.ts';
import { isG711 } from '../audio/g711.ts';
import { reportFault } from '../core/fault.ts';

/** Holds what the current codec needs. It opens a moment after the negotiation; until then there is no sound. */
export class VoiceBox {
  #codec: Codec | undefined;
  #wanted = '';
  #voice: Voice | undefined;
  #closed = false;

  /** Encoder and decoder; undefined for G.711, and until they are open. */
  get voice(): Voice | undefined {
    return this.#voice;
  }

  /**
   * Makes encoder and decoder anew unless codec and wishes are the same.
   * @param wanted what the far end wants to get
   */
  use(codec: Codec, wanted: FormatParameters): void {
    const words = JSON.stringify([...wanted]);
    if (this.#closed || (codec === this.#codec && words === this.#wanted)) return;
    this.#release();
    this.#codec = codec;
    this.#wanted = words;
    if (isG711(codec)) return;
    const isCurrent = (): boolean => codec === this.#codec && words === this.#wanted && !this.#closed;
    openVoice(codec, wanted).then(
      (voice) => {
        if (isCurrent() && this.#voice === undefined) this.#voice = voice;
        else voice.free();
      },
      (error: unknown) => reportFault(`codec ${codec.name}`, error),
    );
  }

  close(): void {
    this.#closed = true;
    this.#release();
  }

  #release(): void {
    this.#voice?.free();
    this.#voice = undefined;
  }
}
