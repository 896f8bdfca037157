import { FRAME_SAMPLES } from '../audio/format.ts';
import type { WavWriter } from '../audio/wav-writer.ts';
import { Limiter } from './limiter.ts';

/** Writes what is said in a conference into a file. */
export class ConferenceRecording {
  /** As given by the client. */
  readonly name: string;
  readonly #writer: WavWriter;
  readonly #limiter = new Limiter();
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  paused = false;

  constructor(name: string, writer: WavWriter) {
    this.name = name;
    this.#writer = writer;
  }

  write(sum: Int32Array): void {
    if (this.paused) return;
    this.#limiter.apply(sum, this.#frame);
    this.#writer.append(this.#frame);
  }

  async close(): Promise<void> {
    await this.#writer.close();
  }
}
