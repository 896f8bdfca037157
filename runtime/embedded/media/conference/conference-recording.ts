/** A recording of a conference. */
import { FRAME_SAMPLES, SAMPLE_RATE } from '../audio/format.ts';
import { type RecordingSize, WavWriter } from '../audio/wav-writer.ts';
import type { EventHeaders } from '../esl/event.ts';
import { Limiter } from './limiter.ts';

/** `opening` while the file is created, `running` until it is stopped, `closing` until the file is complete. */
type RecordingState = 'opening' | 'running' | 'closing';

/** Records a conference to a file. It has a member id, and lists show it as a member. */
export class ConferenceRecording {
  /** The file name as the client gave it. */
  readonly name: string;
  readonly joinedAt = Date.now();
  paused = false;
  readonly #limiter = new Limiter();
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  readonly #ready: Promise<WavWriter>;
  #writer: WavWriter | undefined;
  #state: RecordingState = 'opening';

  /**
   * @param path returns the path of the new file; an error that it throws is reported like a failure to open the file
   */
  constructor(name: string, path: () => string) {
    this.name = name;
    this.#ready = this.#open(path);
  }

  get running(): boolean {
    return this.#state === 'running';
  }

  /** Resolves when the file is open. Rejects with the system's error. */
  async opened(): Promise<void> {
    await this.#ready;
  }

  async #open(path: () => string): Promise<WavWriter> {
    const writer = await WavWriter.open(path());
    this.#writer = writer;
    if (this.#state === 'opening') this.#state = 'running';
    return writer;
  }

  write(sum: Int32Array): void {
    if (this.paused || this.#state !== 'running') return;
    this.#limiter.apply(sum, this.#frame);
    this.#writer?.append(this.#frame);
  }

  /** Resolves when the file is complete, with the headers of `stop-recording`. */
  async close(): Promise<EventHeaders> {
    this.#state = 'closing';
    try {
      const writer = await this.#ready;
      return headers(await writer.close());
    } catch {
      return headers(undefined); // told by `start-recording`, or by a file without size
    }
  }
}

function headers(size: RecordingSize | undefined): EventHeaders {
  const samples = size?.samples ?? 0;
  return {
    'Samples-Out': String(samples),
    Samplerate: String(SAMPLE_RATE),
    'Milliseconds-Elapsed': String(Math.floor((samples * 1000) / SAMPLE_RATE)),
    ...(size === undefined ? {} : { 'Record-File-Size': String(size.bytes) }),
  };
}
