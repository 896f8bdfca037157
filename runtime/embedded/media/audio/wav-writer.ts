/** Writes WAV files. */
import { constants, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../core/make-folder.ts';
import { type Rate, SAMPLE_RATE } from './format.ts';
import { wavHeader } from '../../../wav/index.ts';

/** Samples of all channels that are collected before a write: up to a second. */
const CHUNK_SAMPLES = SAMPLE_RATE;

/** Largest number of chunks waiting for a slow disk: a minute. Later audio is dropped, so that memory stays bounded. */
const MAX_PENDING_CHUNKS = 60;

const HEADER_BYTES = 44;

const RATES: readonly Rate[] = [8000, 16_000];

/** Size of a recording. */
export interface RecordingSize {
  /** Octets of the file. */
  readonly bytes: number;
  /** Samples of one channel. */
  readonly samples: number;
}

/** Files that are being closed, by path. */
const closing = new Map<string, Promise<unknown>>();

/** Writes a 16-bit PCM WAV file while audio comes in, without waiting for the disk. */
export class WavWriter {
  readonly path: string;
  /** Samples a second. */
  readonly rate: Rate;
  readonly #file: FileHandle;
  readonly #channels: 1 | 2;
  /** Samples of one channel that the file held when it was opened. */
  readonly #before: number;
  /** Position of the next write, octets. */
  #position: number;
  readonly #chunk: Int16Array;
  #used = 0;
  #samples = 0;
  #pending = 0;
  #chain: Promise<unknown>;
  #failure: unknown;
  #closed: Promise<RecordingSize> | undefined;

  private constructor(path: string, file: FileHandle, channels: 1 | 2, earlier: EarlierSound) {
    const before = earlier.samples;
    this.path = path;
    this.rate = earlier.rate;
    this.#file = file;
    this.#channels = channels;
    this.#before = before;
    this.#position = HEADER_BYTES + before * 2 * channels;
    this.#chunk = new Int16Array(CHUNK_SAMPLES);
    this.#chain = this.#writeHeader(0).catch((error: unknown) => this.#fail(error));
  }

  /**
   * Creates the file and its directory. Rejects with the system's error, or when the path is not a regular file.
   * @param append whether to append to an earlier recording, at its rate; rejects when the file is not a recording with as
   *   many channels
   * @param rate samples a second of a new recording
   */
  static async open(path: string, channels: 1 | 2 = 1, append = false, rate: Rate = SAMPLE_RATE): Promise<WavWriter> {
    await makeFolder(dirname(path));
    if (append) await closing.get(path);
    // O_NONBLOCK: opening a pipe would otherwise block a thread until a reader comes.
    const { O_RDWR, O_CREAT, O_TRUNC, O_NONBLOCK } = constants;
    const file = await open(path, O_RDWR | O_CREAT | O_NONBLOCK | (append ? 0 : O_TRUNC));
    try {
      const status = await file.stat();
      if (!status.isFile()) throw Object.assign(new Error(`${path} is not a regular file`), { code: 'EINVAL' });
      const earlier = status.size === 0 ? { samples: 0, rate } : await soundIn(file, path, channels);
      return new WavWriter(path, file, channels, earlier);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Samples of one channel written by this writer. */
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

  /** Size of the recording if it were closed now. */
  get size(): RecordingSize {
    return { bytes: HEADER_BYTES + (this.#before + this.#samples) * 2 * this.#channels, samples: this.#samples };
  }

  /** Writes the remaining samples and completes the header. Rejects when writing has failed. */
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

  /** @param samples samples of one channel written by this writer */
  async #writeHeader(samples: number): Promise<void> {
    await this.#file.write(wavHeader(this.#before + samples, this.#channels, this.rate), 0, HEADER_BYTES, 0);
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

/** What a file holds before a WavWriter appends to it. */
interface EarlierSound {
  /** Samples of one channel. */
  readonly samples: number;
  readonly rate: Rate;
}

/** The sound in a file of a WavWriter. Rejects for any other file. */
async function soundIn(file: FileHandle, path: string, channels: 1 | 2): Promise<EarlierSound> {
  const header = Buffer.alloc(HEADER_BYTES);
  await file.read(header, 0, HEADER_BYTES, 0);
  const samples = header.readUInt32LE(HEADER_BYTES - 4) / 2 / channels;
  const rate = RATES.find((each) => header.equals(wavHeader(samples, channels, each)));
  if (rate !== undefined) return { samples, rate };
  throw Object.assign(new Error(`${path} is not a recording with 8 or 16 kHz, 16 bits and ${channels} channels`), {
    code: 'EINVAL',
  });
}
