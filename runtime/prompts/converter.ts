/** Converts sound files in processes of their own, a few at a time. */
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { RunProgram } from '../processes/index.ts';
import type { Converted } from './convert/convert.ts';
import { SoundError, type SoundFault } from './convert/errors.ts';
import { soundKindOf } from './convert/kind-of-file.ts';

const MAIN = fileURLToPath(new URL('./convert/main.ts', import.meta.url));
/** Megabytes for JavaScript: a file is decoded in small pieces. */
const HEAP_MB = 128;
/** Files that are converted at once, and files that may wait. */
const AT_ONCE = 2;
const MAX_WAITING = 50;
/** Milliseconds for one file: ten minutes of 48 kHz stereo take 3 to 4 s of a processor. */
const TIMEOUT_MS = 60_000;
/** Bytes of an answer. */
const MAX_ANSWER = 4096;

export interface ConverterOptions {
  readonly run: RunProgram;
  /** Longest sound, seconds. */
  readonly maxSeconds: number;
}

export class Converter {
  readonly #options: ConverterOptions;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(options: ConverterOptions) {
    this.#options = options;
  }

  /**
   * Converts a sound file of any known kind to a WAV file that media servers play.
   *
   * @param target written; incomplete after an error
   * @throws SoundError; the signal's reason
   */
  async convert(source: string, target: string, signal: AbortSignal): Promise<Converted> {
    // What is no sound takes neither a turn nor a process.
    await soundKindOf(source);
    await this.#turn();
    try {
      signal.throwIfAborted();
      return await this.#convert(source, target, signal);
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #turn(): Promise<void> {
    if (this.#running >= AT_ONCE) {
      if (this.#waiting.length >= MAX_WAITING)
        throw new SoundError('busy', `cannot be converted now: ${MAX_WAITING} files wait for that`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    }
    this.#running += 1;
  }

  async #convert(source: string, target: string, signal: AbortSignal): Promise<Converted> {
    const { run, maxSeconds } = this.#options;
    const flags = ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${HEAP_MB}`];
    const work = {
      program: process.execPath,
      args: [...flags, MAIN, source, target, String(maxSeconds)],
      input: '',
      maxBytes: MAX_ANSWER,
      timeoutMs: TIMEOUT_MS,
    };
    const said = await run(work, signal);
    signal.throwIfAborted();
    if (said === undefined)
      throw new SoundError(
        'broken',
        `cannot be decoded: it broke the decoder, or took more than ${TIMEOUT_MS / 1000} s`,
      );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what main.ts prints
    const answer = JSON.parse(Buffer.from(said).toString('utf8')) as
      | Converted
      | { readonly fault: SoundFault; readonly message: string };
    if ('fault' in answer) throw new SoundError(answer.fault, answer.message);
    return answer;
  }
}
