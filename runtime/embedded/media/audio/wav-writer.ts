import { constants, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../core/make-folder.ts';
import { SAMPLE_RATE } from './format.ts';
import { wavHeader } from './wav-header.ts';

/** Samples (of all channels) collected before they are written: about a second. */
const CHUNK_SAMPLES = SAMPLE_RATE;

/** Chunks waiting for a slow disk at most: a minute. Later audio is lost rather than memory. */
const MAX_PENDING_CHUNKS = 60;

const HEADER_BYTES = 44;

/** What a finished recording has become. */
export interface RecordingSize {
  /** Octets of the file. */
  readonly bytes: number;
  /** Samples of one channel. */
  readonly samples: number;
}

/** Files that are being completed, by their paths. */
const closing = new Map<string, Promise<unknown>>();

/** Writes an 8 kHz 16-bit PCM WAV file while the audio comes in; the disk is never waited for. */
export class WavWriter {
  readonly path: string;
  readonly #file: FileHandle;
  readonly #channels: 1 | 2;
  /** Samples of one channel that were in the file before. */
  readonly #before: number;
  /** Where the next samples go, octets. */
  #position: number;
  readonly #chunk: Int16Array;
  #used = 0;
  #samples = 0;
  #pending = 0;
  #chain: Promise<unknown>;
  #failure: unknown;
  #closed: Promise<RecordingSize> | undefined;

  private constructor(path: string, file: FileHandle, channels: 1 | 2, before: number) {
    this.path = path;
    this.#file = file;
    this.#channels = channels;
    this.#before = before;
    this.#position = HEADER_BYTES + before * 2 * channels;
    this.#chunk = new Int16Array(CHUNK_SAMPLES);
    this.#chain = this.#writeHeader(0).catch((error: unknown) => this.#fail(error));
  }

  /**
   * Creates the file and its directory. Rejects with the system's error, and when the path is no file.
   * @param append whether what a writer of its kind has left in the file stays before what comes; rejects when it is no such file
   */
  static async open(path: string, channels: 1 | 2 = 1, append = false): Promise<WavWriter> {
    await makeFolder(dirname(path));
    if (append) await closing.get(path);
    // Without waiting for a reader, should the path be a pipe: that would hold a thread.
    const { O_RDWR, O_CREAT, O_TRUNC, O_NONBLOCK } = constants;
    const file = await open(path, O_RDWR | O_CREAT | O_NONBLOCK | (append ? 0 : O_TRUNC));
    try {
      const status = await file.stat();
      if (!status.isFile()) throw Object.assign(new Error(`${path} is no file`), { code: 'EINVAL' });
      return new WavWriter(path, file, channels, status.size === 0 ? 0 : await samplesIn(file, path, channels));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Samples of one channel taken so far, without what was in the file before. */
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
    return { bytes: HEADER_BYTES + (this.#before + this.#samples) * 2 * this.#channels, samples: this.#samples };
  }

  /** Writes what is left and the sizes into the header. Rejects when writing has failed. */
  close(): Promise<RecordingSize> {
    if (this.#closed === undefined) {
      this.#closed = this.#finish();
      const over = (): unknown => closing.get(this.path) === done && closing.delete(this.path);
      const done = this.#closed.then(over, over);
      closing.set(this.path, done);
    }
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
    const position = this.#position;
    this.#position += data.length;
    this.#chain = this.#chain
      .then(() => this.#file.write(data, 0, data.length, position))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#pending -= 1;
      });
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
  }

  /** @param samples of one channel, without what was in the file before */
  async #writeHeader(samples: number): Promise<void> {
    await this.#file.write(wavHeader(this.#before + samples, this.#channels), 0, HEADER_BYTES, 0);
  }

  async #finish(): Promise<RecordingSize> {
    this.#flush();
    await this.#chain;
    try {
      await this.#writeHeader(this.#samples);
    } finally {
      await this.#file.close();
    }
    if (this.#failure !== undefined) throw this.#failure;
    return this.size;
  }
}

/** Samples of one channel in a file that was written here. Rejects when it was not. */
async function samplesIn(file: FileHandle, path: string, channels: 1 | 2): Promise<number> {
  const header = Buffer.alloc(HEADER_BYTES);
  await file.read(header, 0, HEADER_BYTES, 0);
  const samples = header.readUInt32LE(HEADER_BYTES - 4) / 2 / channels;
  if (!header.equals(wavHeader(samples, channels))) {
    throw Object.assign(new Error(`${path} is no recording of 8 kHz, 16 bits and ${channels} channels`), {
      code: 'EINVAL',
    });
  }
  return samples;
}
