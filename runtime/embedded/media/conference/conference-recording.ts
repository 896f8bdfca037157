/** A recording of a conference. */
import { type Rate, SAMPLE_RATE } from '../audio/format.ts';
import { RateConverter } from '../audio/rate-converter.ts';
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
  #frame = new Int16Array(0);
  readonly #converter = new RateConverter();
  readonly #ready: Promise<WavWriter>;
  #writer: WavWriter | undefined;
  #state: RecordingState = 'opening';

  /**
   * @param path returns the path of the new file; an error that it throws is reported like a failure to open the file
   * @param rate samples a second of the mix
   */
  constructor(name: string, path: () => string, rate: Rate) {
    this.name = name;
    this.#ready = this.#open(path, rate);
  }

  get running(): boolean {
    return this.#state === 'running';
  }

  /** Resolves when the file is open. Rejects with the system's error. */
  async opened(): Promise<void> {
    await this.#ready;
  }

  async #open(path: () => string, rate: Rate): Promise<WavWriter> {
    const writer = await WavWriter.open(path(), 1, false, rate);
    this.#writer = writer;
    if (this.#state === 'opening') this.#state = 'running';
    return writer;
  }

  write(sum: Int32Array): void {
    const writer = this.#writer;
    if (this.paused || this.#state !== 'running' || writer === undefined) return;
    if (this.#frame.length !== sum.length) this.#frame = new Int16Array(sum.length);
    this.#limiter.apply(sum, this.#frame);
    // The mix may have become wideband since the recording began.
    writer.append(this.#converter.convert(this.#frame, writer.rate));
  }

  /** Resolves when the file is complete, with the headers of `stop-recording`. */
  async close(): Promise<EventHeaders> {
    this.#state = 'closing';
    try {
      const writer = await this.#ready;
      return headers(await writer.close(), writer.rate);
    } catch {
      return headers(undefined); // told by `start-recording`, or by a file without size
    }
  }
}

function headers(size: RecordingSize | undefined, rate: Rate = SAMPLE_RATE): EventHeaders {
  const samples = size?.samples ?? 0;
  return {
    'Samples-Out': String(samples),
    Samplerate: String(rate),
    'Milliseconds-Elapsed': String(Math.floor((samples * 1000) / rate)),
    ...(size === undefined ? {} : { 'Record-File-Size': String(size.bytes) }),
  };
}
