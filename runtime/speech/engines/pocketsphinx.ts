import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type SpeechEngine, SpeechError, type SpeechStream, type SpeechStreamOptions } from '../engine.ts';
import { Upsampler } from '../upsampler.ts';

const COMMAND = 'pocketsphinx_continuous';
/** Of the Debian packages; other models by configuration. */
const DICTIONARY = '/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict';
/** Octets of 16 kHz samples in a millisecond. */
const BYTES_PER_MS = 32;
/** Octets that may wait for the engine before `drained` waits. */
const HIGH_WATER = 512 * 1024;

/** Files of another language than English, absolute. */
export interface PocketsphinxModel {
  readonly acousticModel?: string;
  readonly languageModel?: string;
  readonly dictionary?: string;
}

/** Whether the engine is on this machine. */
export function pocketsphinxInstalled(path = process.env['PATH'] ?? ''): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, COMMAND), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** CMU Pocketsphinx as a process of its own for each stream. It tells final results only, one for each utterance. */
export class Pocketsphinx implements SpeechEngine {
  readonly #model: PocketsphinxModel;
  #words: Promise<ReadonlySet<string>> | undefined;

  constructor(model: PocketsphinxModel = {}) {
    this.#model = model;
  }

  async open(options: SpeechStreamOptions): Promise<SpeechStream> {
    const { acousticModel, languageModel, dictionary } = this.#model;
    const grammar = await this.#grammar(options.hints);
    const args = [
      ...(acousticModel === undefined ? [] : ['-hmm', acousticModel]),
      ...(dictionary === undefined ? [] : ['-dict', dictionary]),
      ...(grammar !== undefined ? ['-jsgf', grammar] : languageModel === undefined ? [] : ['-lm', languageModel]),
    ];
    return new PocketsphinxStream(args, options, async () => {
      if (grammar !== undefined) await rm(grammar, { force: true });
    });
  }

  /** A grammar of the phrases whose words the dictionary knows; undefined when there are none. */
  async #grammar(hints: readonly string[]): Promise<string | undefined> {
    if (hints.length === 0) return undefined;
    this.#words ??= readWords(this.#model.dictionary ?? DICTIONARY);
    const known = await this.#words;
    const phrases = hints
      .map((hint) =>
        hint
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}' ]+/gu, ' ')
          .trim(),
      )
      .filter((phrase) => phrase !== '' && phrase.split(/\s+/).every((word) => known.has(word)));
    if (phrases.length === 0) return undefined;
    const file = join(tmpdir(), `ringmaster-${randomUUID()}.jsgf`);
    await writeFile(file, `#JSGF V1.0;\ngrammar hints;\npublic <hints> = ${phrases.join(' | ')};\n`, { mode: 0o600 });
    return file;
  }
}

async function readWords(dictionary: string): Promise<ReadonlySet<string>> {
  try {
    const text = await readFile(dictionary, 'utf8');
    return new Set(text.split('\n').map((line) => line.slice(0, line.search(/[\s(]|$/))));
  } catch (error) {
    throw new SpeechError('failed', `the dictionary ${dictionary} cannot be read`, { cause: error });
  }
}

type Process = ChildProcessByStdio<Writable, Readable, null>;

class PocketsphinxStream implements SpeechStream {
  readonly #options: SpeechStreamOptions;
  readonly #process: Process;
  readonly #upsampler = new Upsampler();
  readonly #ended = Promise.withResolvers<void>();
  #line = '';
  #closed = false;

  constructor(args: readonly string[], options: SpeechStreamOptions, tidy: () => Promise<void>) {
    this.#options = options;
    // It reads files only, and cannot open the socket that Node makes of a standard input: `cat` makes a pipe of it.
    const script = `cat | exec ${COMMAND} -infile /dev/stdin -logfn /dev/null "$@"`;
    this.#process = spawn('/bin/sh', ['-c', script, COMMAND, ...args], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    // A process that ends takes its input away; its exit says so.
    this.#process.stdin.on('error', () => undefined);
    this.#process.once('error', (error) => this.#over(`${COMMAND} cannot be started: ${error.message}`));
    this.#process.once('close', (code, signal) => {
      this.#over(code === 0 ? undefined : `${COMMAND} ended with ${code ?? signal}`);
      void tidy();
    });
  }

  get backlogMs(): number {
    return this.#process.stdin.writableLength / BYTES_PER_MS;
  }

  write(samples: Int16Array): void {
    if (this.#closed || this.#process.stdin.writableEnded) return;
    const wide = this.#upsampler.next(samples);
    this.#process.stdin.write(Buffer.from(wide.buffer, wide.byteOffset, wide.byteLength));
  }

  async drained(): Promise<void> {
    const { stdin } = this.#process;
    if (this.#closed || stdin.writableLength < HIGH_WATER) return;
    await Promise.race([new Promise((resolve) => stdin.once('drain', resolve)), this.#ended.promise]);
  }

  async finish(): Promise<void> {
    this.#process.stdin.end();
    await this.#ended.promise;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { pid } = this.#process;
    try {
      // The shell and what it started are a group of their own.
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    this.#ended.resolve();
  }

  /** A line for each utterance; an empty one when nothing was understood. */
  #take(text: string): void {
    const lines = (this.#line + text).split('\n');
    this.#line = lines.pop() ?? '';
    for (const line of lines) {
      const understood = line.trim();
      if (understood !== '' && !this.#closed) this.#options.onResult({ text: understood, final: true });
    }
  }

  #over(problem: string | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    if (problem !== undefined) this.#options.onFailure(new SpeechError('failed', problem));
    this.#ended.resolve();
  }
}
