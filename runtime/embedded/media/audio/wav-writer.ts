import { constants, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../core/make-folder.ts';
import { SAMPLE_RATE } from './format.ts';
import { wavHeader } from './wav.ts';

/** Samples (of all channels) collected before they are written: about a second. */
const CHUNK_SAMPLES = SAMPLE_RATE;

/** Chunks waiting for a slow disk at most: a minute. Later audio is lost rather than memory. */
const MAX_PENDING_CHUNKS = 60;

/** What a finished recording has become. */
export interface RecordingSize {
  /** Octets of the file. */
  readonly bytes: number;
  /** Samples of one channel. */
  readonly samples: number;
}

/** Writes an 8 kHz 16-bit PCM WAV file while the audio comes in; the disk is never waited for. */
export class WavWriter {
  readonly path: string;
  readonly #file: FileHandle;
  readonly #channels: 1 | 2;
  readonly #chunk: Int16Array;
  #used = 0;
  #samples = 0;
  #pending = 0;
  #chain: Promise<unknown>;
  #failure: unknown;
  #closed: Promise<RecordingSize> | undefined;

  private constructor(path: string, file: FileHandle, channels: 1 | 2) {
    this.path = path;
    this.#file = file;
    this.#channels = channels;
    this.#chunk = new Int16Array(CHUNK_SAMPLES);
    this.#chain = file.write(wavHeader(0, channels)).catch((error: unknown) => this.#fail(error));
  }

  /** Creates the file and its directory. Rejects with the system's error, and when the path is no file. */
  static async open(path: string, channels: 1 | 2 = 1): Promise<WavWriter> {
    await makeFolder(dirname(path));
    // Without waiting for a reader, should the path be a pipe: that would hold a thread.
    const { O_WRONLY, O_CREAT, O_TRUNC, O_NONBLOCK } = constants;
    const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK);
    if (!(await file.stat()).isFile()) {
      await file.close();
      throw Object.assign(new Error(`${path} is no file`), { code: 'EINVAL' });
    }
    return new WavWriter(path, file, channels);
  }

  /** Samples of one channel taken so far. */
  get samples(): number {
    return this.#samples;
  }

  /** Appends a frame; on a stereo file `second` is the right channel. */
  append(samples: Int16Array, second?: Int16Array): void {
    for (let index = 0; index < samples.length; index += 1) {
      this.#put(samples[index] as number);
      if (this.#channels === 2) this.#put(second?.[index] ?? 0);
    }
    this.#samples += samples.length;
  }

  /** What the recording is when it is closed now. */
  get size(): RecordingSize {
    return { bytes: 44 + this.#samples * 2 * this.#channels, samples: this.#samples };
  }

  /** Writes what is left and the sizes into the header. Rejects when writing has failed. */
  close(): Promise<RecordingSize> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  #put(sample: number): void {
    this.#chunk[this.#used] = sample;
    this.#used += 1;
    if (this.#used === this.#chunk.length) this.#flush();
  }

  #flush(): void {
    if (this.#used === 0) return;
    const data = Buffer.from(Buffer.from(this.#chunk.buffer, 0, this.#used * 2));
    this.#used = 0;
    if (this.#pending >= MAX_PENDING_CHUNKS) return;
    this.#pending += 1;
    this.#chain = this.#chain
      .then(() => this.#file.write(data))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#pending -= 1;
      });
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
  }

  async #finish(): Promise<RecordingSize> {
    this.#flush();
    await this.#chain;
    try {
      const header = wavHeader(this.#samples, this.#channels);
      await this.#file.write(header, 0, header.length, 0);
    } finally {
      await this.#file.close();
    }
    if (this.#failure !== undefined) throw this.#failure;
    return this.size;
  }
}
