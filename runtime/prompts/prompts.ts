/** The prompts of a node: uploaded ones of domains, files of any kind, and sounds of URLs. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Collection, PromptFile, type PromptRow } from '../domain/index.ts';
import { FileMissingError, type FileStore, type ReceivedBlob } from '../storage/index.ts';
import { SoundError } from './convert/errors.ts';
import { KIND_OF_ENDING } from './convert/kinds.ts';
import type { Converter } from './converter.ts';
import type { SoundCache } from './sound-cache.ts';

export interface PromptsOptions {
  readonly collection: Collection<PromptRow>;
  readonly files: FileStore;
  readonly cache: SoundCache;
  readonly converter: Converter;
  /** Notes files that may have lost their last owner. */
  readonly suspect: (hashes: readonly string[]) => Promise<void>;
  /** Bytes of one upload. */
  readonly maxBytes: number;
}

export class Prompts {
  readonly #options: PromptsOptions;
  /** Conversions in progress by key of the cache. */
  readonly #converting = new Map<string, Promise<string>>();
  /** Rows by domain, language and name. */
  #index = new Map<string, PromptRow>();

  private constructor(options: PromptsOptions) {
    this.#options = options;
  }

  static async open(options: PromptsOptions): Promise<Prompts> {
    const prompts = new Prompts(options);
    const { collection, suspect } = options;
    collection.onChange(async ({ before, after }) => {
      if (before !== undefined) prompts.#index.delete(keyOf(before));
      if (after !== undefined) prompts.#index.set(keyOf(after), after);
      // A change of another node has no hashes; that node notes them.
      const lost = [before?.hasha, before?.wav_hasha].filter((hash) => hash !== undefined);
      if (after?.hasha !== before?.hasha) await suspect(lost);
    });
    collection.onReset(() => prompts.#load());
    await prompts.#load();
    return prompts;
  }

  async #load(): Promise<void> {
    const rows = await this.#options.collection.list();
    this.#index = new Map(rows.map((row) => [keyOf(row), row]));
  }

  /** Bytes of one upload. */
  get limit(): number {
    return this.#options.maxBytes;
  }

  /** Takes an upload, which `fileOf` or `discard` gets next. @throws BlobTooLargeError */
  receive(content: AsyncIterable<Uint8Array>): Promise<ReceivedBlob> {
    return this.#options.files.receive(content, this.#options.maxBytes);
  }

  discard(received: ReceivedBlob): Promise<void> {
    return this.#options.files.discard(received);
  }

  /**
   * Converts an upload and stores it and its WAV, for an entity that is written next.
   *
   * @param filename of the client
   * @throws SoundError, FileStoreError; the upload is then to be discarded
   */
  async fileOf(received: ReceivedBlob, filename: string): Promise<PromptFile> {
    const { files, cache, converter, suspect } = this.#options;
    const work = cache.work();
    try {
      const { kind, milliseconds } = await converter.convert(received.path, work, new AbortController().signal);
      const wav = await files.receive(createReadStream(work), Number.MAX_SAFE_INTEGER);
      const { hasha, size } = received;
      // In case the node stops before a prompt owns them.
      await suspect([hasha, wav.hasha]);
      await files.keep(wav);
      await files.keep(received);
      const columns = { kind, filename, size, milliseconds, mtime: Date.now(), hasha, wav_hasha: wav.hasha };
      return new PromptFile(columns);
    } finally {
      await cache.discard(work);
    }
  }

  /** The prompt of a domain in exactly this language; empty: the one for every language. @param domain id */
  find(domain: string, name: string, language: string): PromptRow | undefined {
    return this.#index.get(keyOf({ domain_id: domain, name, language }));
  }

  /** The uploaded file as a stream. @throws FileMissingError, FileStoreError */
  async read({ hasha }: PromptRow): Promise<NodeJS.ReadableStream> {
    return await this.#content(hasha);
  }

  /** A WAV of the file store, such as that of a prompt, as a file on this machine. @throws FileMissingError, FileStoreError */
  async wavOf({ wav_hasha: hasha }: Pick<PromptRow, 'wav_hasha'>): Promise<string> {
    const { cache } = this.#options;
    const key = hasha.replace(/^sha256;/, '').toLowerCase();
    const found = cache.find(key);
    if (found !== undefined) return found;
    const work = cache.work();
    try {
      await pipeline(await this.#content(hasha), createWriteStream(work));
      return await cache.keep(key, work);
    } finally {
      await cache.discard(work);
    }
  }

  async #content(hasha: string): Promise<NodeJS.ReadableStream> {
    const { files } = this.#options;
    const content = await files.read(hasha);
    if (content === undefined) throw new FileMissingError(files.link(hasha));
    return content;
  }

  /**
   * A file that media servers play: a WAV file itself, and the WAV of another kind.
   *
   * @param signal ends the wait, not the conversion
   * @throws SoundError; the signal's reason
   */
  async playable(file: string, signal: AbortSignal): Promise<string> {
    if (KIND_OF_ENDING[extname(file).toLowerCase()] === 'wav') return file;
    const { cache } = this.#options;
    const { mtimeMs, size } = await stat(file).catch(() => {
      throw new SoundError('broken', 'is gone');
    });
    const key = `file-${createHash('sha256').update(`${file} ${mtimeMs} ${size}`).digest('hex')}`;
    const found = cache.find(key);
    if (found !== undefined) return found;
    const running = this.#converting.get(key) ?? this.#convert(file, key);
    const { promise: over, reject } = Promise.withResolvers<never>();
    const stop = (): void => reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([running, over]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Goes on when the first caller has gone: the next one needs it. */
  #convert(file: string, key: string): Promise<string> {
    const converting = this.#converted(file, key);
    // Those who wait see the error; there may be none left.
    converting.catch(() => undefined);
    this.#converting.set(key, converting);
    return converting;
  }

  async #converted(file: string, key: string): Promise<string> {
    const { cache, converter } = this.#options;
    const work = cache.work();
    try {
      await converter.convert(file, work, new AbortController().signal);
      return await cache.keep(key, work);
    } finally {
      this.#converting.delete(key);
      await cache.discard(work);
    }
  }
}

function keyOf({ domain_id: domain, name, language }: Pick<PromptRow, 'domain_id' | 'name' | 'language'>): string {
  return `${domain} ${language.toLowerCase()} ${name}`;
}
