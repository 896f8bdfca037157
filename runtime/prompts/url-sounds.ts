/** Sounds of URLs: fetched, converted, and kept as long as their server allows. */
import { createHash } from 'node:crypto';
import { SoundError } from './convert/errors.ts';
import type { Converter } from './converter.ts';
import { type Freshness, freshnessOf } from './freshness.ts';
import type { SoundCache } from './sound-cache.ts';

/** Downloads a file by HTTP with the rules for scenarios. */
export interface Downloads {
  /**
   * @throws errors with the field `code`: `http_forbidden`, `http_timeout`, `http_too_large`, `http_failed`, `http_busy`
   */
  download(request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
    readonly maxBytes: number;
    readonly signal: AbortSignal;
    /** Path of a new file with the body. */
    readonly target: string;
  }): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>> }>;
}

export interface UrlSoundsOptions {
  readonly downloads: Downloads;
  readonly cache: SoundCache;
  readonly converter: Converter;
  /** Time from the request to the sound, milliseconds. */
  readonly waitMs: number;
  /** Bytes of a file. */
  readonly maxBytes: number;
  /** Called when an old sound is played because its server could not be asked. */
  readonly onStale: (url: string, error: unknown) => void;
  /** Makes the error for a status that is no success, and for a wait that is over. */
  readonly failed: (code: 'http_failed' | 'http_timeout', message: string) => Error;
}

/** A kept sound. */
interface Kept {
  readonly freshness: Freshness;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly validators: Readonly<Record<string, string>>;
}

export class UrlSounds {
  readonly #options: UrlSoundsOptions;
  readonly #kept = new Map<string, Kept>();
  /** Fetches in progress: the same URL is fetched once for all who wait. */
  readonly #fetching = new Map<string, Promise<string>>();

  constructor(options: UrlSoundsOptions) {
    this.#options = options;
  }

  /**
   * The WAV file of a URL.
   *
   * @param signal ends the wait; the fetch goes on for others, for its limited time
   * @throws SoundError, errors of `Downloads` and of `failed`; the signal's reason
   */
  async open(url: string, signal: AbortSignal): Promise<string> {
    const file = this.#freshFile(url);
    if (file !== undefined) return file;
    signal.throwIfAborted();
    const { promise: over, reject } = Promise.withResolvers<never>();
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([this.#fetched(url), over]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #freshFile(url: string): string | undefined {
    const kept = this.#kept.get(url);
    return kept !== undefined && Date.now() < kept.until ? this.#file(url) : undefined;
  }

  /** The kept file; what is known of one that is gone is forgotten. */
  #file(url: string): string | undefined {
    const file = this.#options.cache.find(keyOf(url));
    if (file === undefined) this.#kept.delete(url);
    return file;
  }

  #fetched(url: string): Promise<string> {
    const running = this.#fetching.get(url);
    if (running !== undefined) return running;
    const fetching = this.#fetch(url).finally(() => this.#fetching.delete(url));
    // Those who wait see the error; there may be none left.
    fetching.catch(() => undefined);
    this.#fetching.set(url, fetching);
    return fetching;
  }

  async #fetch(url: string): Promise<string> {
    const old = this.#kept.get(url);
    const file = old === undefined ? undefined : this.#file(url);
    const timeout = AbortSignal.timeout(this.#options.waitMs);
    try {
      return await this.#load(url, file, file === undefined ? undefined : old, timeout);
    } catch (error) {
      const failure = timeout.aborted ? this.#late() : error;
      if (file === undefined || old?.freshness.staleIfError !== true || isRefusal(failure)) {
        this.#kept.delete(url);
        throw failure;
      }
      this.#options.onStale(url, failure);
      return file;
    }
  }

  #late(): Error {
    const { failed, waitMs } = this.#options;
    return failed('http_timeout', `no sound within ${waitMs} ms: RINGMASTER_PROMPT_WAIT`);
  }

  /** @param file the kept one, which an answer 304 confirms */
  async #load(url: string, file: string | undefined, old: Kept | undefined, signal: AbortSignal): Promise<string> {
    const { downloads, cache, converter, waitMs, maxBytes, failed } = this.#options;
    const received = cache.work();
    try {
      const headers = { accept: 'audio/*', ...old?.validators };
      const answer = await downloads.download({ url, headers, timeoutMs: waitMs, maxBytes, signal, target: received });
      if (answer.status === 304 && file !== undefined && old !== undefined) {
        this.#remember(url, { ...old.validators, ...validatorsOf(answer.headers) }, answer.headers);
        return file;
      }
      if (answer.status !== 200) throw failed('http_failed', `the server answered ${answer.status}`);
      const wav = cache.work();
      try {
        await converter.convert(received, wav, signal);
        const kept = await cache.keep(keyOf(url), wav);
        this.#remember(url, validatorsOf(answer.headers), answer.headers);
        return kept;
      } finally {
        await cache.discard(wav);
      }
    } finally {
      await cache.discard(received);
    }
  }

  #remember(url: string, validators: Kept['validators'], headers: Readonly<Record<string, string>>): void {
    const freshness = freshnessOf(headers);
    this.#kept.delete(url);
    if (!freshness.noStore)
      this.#kept.set(url, { freshness, until: Date.now() + freshness.seconds * 1000, validators });
    this.#forgetGone();
  }

  /** What is known of URLs stays as bounded as the files. */
  #forgetGone(): void {
    const { cache } = this.#options;
    for (const known of this.#kept.keys()) {
      if (this.#kept.size <= cache.count) return;
      this.#kept.delete(known);
    }
  }
}

/** A new answer that is no sound, or a refusal of the node: the old sound must not hide it. */
function isRefusal(error: unknown): boolean {
  return error instanceof SoundError || (error instanceof Error && 'code' in error && error.code === 'http_forbidden');
}

function keyOf(url: string): string {
  return `url-${createHash('sha256').update(url).digest('hex')}`;
}

/** The conditions of a later request (RFC 9110 section 13.1). */
function validatorsOf(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { etag, 'last-modified': modified } = headers;
  return {
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(modified === undefined ? {} : { 'if-modified-since': modified }),
  };
}
