/** Speech engine: pocketsphinx processes. */
import { randomUUID } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Socket } from 'node:net';
import { type Nursery, shellOrder } from '../../processes/index.ts';
import { type SpeechEngine, SpeechError, type SpeechStream, type SpeechStreamOptions } from '../engine.ts';
import { Upsampler } from '../upsampler.ts';

const COMMAND = 'pocketsphinx_continuous';
/** Paths of the Debian packages; other models by configuration. */
const DICTIONARY = '/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict';
/** Octets of 16 kHz samples per millisecond. */
const BYTES_PER_MS = 32;
/** Buffered octets above which `drained` waits. */
const HIGH_WATER = 512 * 1024;

/** Absolute paths of model files for languages other than English. */
export interface PocketsphinxModel {
  readonly acousticModel?: string;
  readonly languageModel?: string;
  readonly dictionary?: string;
}

/** True when the engine is installed. */
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

/** CMU Pocketsphinx, one process per stream. It yields final results only, one per utterance. */
export class Pocketsphinx implements SpeechEngine {
  readonly #nursery: Nursery;
  readonly #model: PocketsphinxModel;
  #words: Promise<ReadonlySet<string>> | undefined;

  /** @param nursery starts the processes */
  constructor(nursery: Nursery, model: PocketsphinxModel = {}) {
    this.#nursery = nursery;
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
    return new PocketsphinxStream(this.#nursery, args, options, async () => {
      if (grammar !== undefined) await rm(grammar, { force: true });
    });
  }

  /** A grammar of the phrases whose words are in the dictionary; undefined without any. */
  async #grammar(hints: readonly string[]): Promise<string | undefined> {
    if (hints.length === 0) return undefined;
    this.#words ??= readWords(this.#model.dictionary ?? DICTIONARY).catch((error: unknown) => {
      // The dictionary may be installed later.
      this.#words = undefined;
      throw error;
    });
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

/** It reads only files and cannot open the line's socket, so `cat` feeds it through a pipe. */
const SCRIPT = `cat <&3 | exec ${COMMAND} -infile /dev/stdin -logfn /dev/null "$@" >&3 3>&-`;

class PocketsphinxStream implements SpeechStream {
  readonly #options: SpeechStreamOptions;
  readonly #kill: () => void;
  readonly #line = Promise.withResolvers<Socket>();
  readonly #upsampler = new Upsampler();
  readonly #ended = Promise.withResolvers<void>();
  readonly #tidy: () => Promise<void>;
  /** Sound buffered while the process starts. */
  #unsent: Buffer[] = [];
  #unsentBytes = 0;
  #socket: Socket | undefined;
  #text = '';
  /** The end of the process and the end of its output, which arrive separately. */
  #exit: { readonly problem: string | undefined } | undefined;
  #heardAll = false;
  #finishing = false;
  #closed = false;

  constructor(nursery: Nursery, args: readonly string[], options: SpeechStreamOptions, tidy: () => Promise<void>) {
    this.#options = options;
    this.#tidy = tidy;
    this.#kill = nursery.start(shellOrder(SCRIPT, [COMMAND, ...args]), {
      started: (_pid, line) => this.#started(line),
      words: () => undefined,
      gone: (reason, ok) => this.#gone(ok ? undefined : `${COMMAND} ${reason}`),
      orphaned: () => {
        this.#kill();
        this.#gone(`${COMMAND} is lost`);
      },
    });
  }

  get backlogMs(): number {
    return this.#backlog / BYTES_PER_MS;
  }

  write(samples: Int16Array): void {
    if (this.#closed || this.#finishing) return;
    const wide = this.#upsampler.next(samples);
    const bytes = Buffer.from(wide.buffer, wide.byteOffset, wide.byteLength);
    if (this.#socket) this.#socket.write(bytes);
    else {
      this.#unsent.push(bytes);
      this.#unsentBytes += bytes.length;
    }
  }

  async drained(): Promise<void> {
    if (this.#closed || this.#backlog < HIGH_WATER) return;
    const drain = async (): Promise<void> => {
      const line = await this.#line.promise;
      if (line.writableNeedDrain) await new Promise((resolve) => line.once('drain', resolve));
    };
    await Promise.race([drain(), this.#ended.promise]);
  }

  async finish(): Promise<void> {
    this.#finishing = true;
    this.#socket?.end();
    await this.#ended.promise;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#kill();
    this.#socket?.destroy();
    this.#ended.resolve();
  }

  get #backlog(): number {
    return this.#socket?.writableLength ?? this.#unsentBytes;
  }

  #started(line: Socket): void {
    if (this.#closed) {
      line.destroy();
      return;
    }
    this.#socket = line;
    line.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    // An ending process breaks the line; its exit reports the reason.
    line.on('error', () => undefined);
    line.on('close', () => {
      this.#heardAll = true;
      this.#over();
    });
    for (const bytes of this.#unsent) line.write(bytes);
    this.#unsent = [];
    if (this.#finishing) line.end();
    this.#line.resolve(line);
  }

  /** One line per utterance; empty when nothing was recognised. */
  #take(text: string): void {
    const lines = (this.#text + text).split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      const understood = line.trim();
      if (understood !== '' && !this.#closed) this.#options.onResult({ text: understood, final: true });
    }
  }

  #gone(problem: string | undefined): void {
    this.#exit = { problem };
    void this.#tidy();
    this.#over();
  }

  #over(): void {
    if (this.#closed || !this.#exit) return;
    const { problem } = this.#exit;
    if (problem === undefined && !this.#heardAll) return;
    this.#closed = true;
    this.#socket?.destroy();
    if (problem !== undefined) this.#options.onFailure(new SpeechError('failed', problem));
    this.#ended.resolve();
  }
}
