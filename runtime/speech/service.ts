import { type AsrOptions, type AsrServer, asrOptionsProblem } from '../domain/index.ts';
import type { Nursery } from '../processes/index.ts';
import { untilActive } from './activity.ts';
import { type SpeechEngine, SpeechError, type SpeechStream, type SpeechStreamOptions } from './engine.ts';
import { OpenAi } from './engines/openai.ts';
import { Pocketsphinx, pocketsphinxInstalled } from './engines/pocketsphinx.ts';
import { Vosk } from './engines/vosk.ts';

/** Streams at once, when nothing else is said. */
const DEFAULT_STREAMS = 4;
const DEFAULT_MODEL = 'whisper-1';

interface Server {
  readonly engine: SpeechEngine;
  readonly language: string | undefined;
  readonly limit: number;
  streams: number;
}

/** Options of a stream; what is left out is the configuration's. */
export type OpenSpeech = Pick<SpeechStreamOptions, 'onResult' | 'onFailure'> &
  Partial<Pick<SpeechStreamOptions, 'language' | 'hints' | 'whole'>> & {
    /** Servers that are passed over, as they have failed at this; whichever is asked is added. */
    readonly tried?: Set<object>;
  };

/**
 * Speech recognition as the node has it: the servers of `record_asr_options`, or pocketsphinx where it is installed, with
 * a limit of streams at once.
 */
export class SpeechService {
  readonly #nursery: Nursery;
  readonly #installed: () => boolean;
  readonly #listeners = new Set<() => void>();
  #options: AsrOptions = {};
  #servers: readonly Server[] = [];
  #streams = 0;

  /** @param nursery starts engines @param installed whether pocketsphinx is on this machine */
  constructor(nursery: Nursery, installed: () => boolean = pocketsphinxInstalled) {
    this.#nursery = nursery;
    this.#installed = installed;
    this.configure(undefined);
  }

  /**
   * Takes new options from now on; streams that are open go on. Options that are none count as speech switched off.
   * @param value the setting; undefined: there is none
   * @returns what is wrong with them
   */
  configure(value: unknown): string | undefined {
    const problem = value === undefined ? undefined : asrOptionsProblem(value);
    this.#options = problem === undefined ? (value ?? {}) : { enabled: false };
    const { enabled = true, servers = this.#installed() ? [{ engine: 'pocketsphinx' } as const] : [] } = this.#options;
    this.#servers = enabled ? servers.map((server) => this.#server(server)) : [];
    this.#changed();
    return problem;
  }

  /** Whether there is an engine at all. */
  get configured(): boolean {
    return this.#servers.length > 0;
  }

  /** Streams that can be open at once. */
  get capacity(): number {
    return Math.min(
      this.#limit,
      this.#servers.reduce((sum, { limit }) => sum + limit, 0),
    );
  }

  /** Streams that could be opened now. */
  get free(): number {
    const left = this.#servers.reduce((sum, { limit, streams }) => sum + Math.max(0, limit - streams), 0);
    return Math.max(0, Math.min(this.#limit - this.#streams, left));
  }

  /** Streams that are open. */
  get streams(): number {
    return this.#streams;
  }

  /** Milliseconds until the activity time begins in which recordings are transcribed; 0 within it. */
  untilActive(now: number): number {
    return untilActive(this.#options.activity_time, now);
  }

  /** Tells when a stream may have become free, or the options are others, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Opens a stream at the first server that takes it; those of the wanted language come first.
   * @throws SpeechError
   */
  async open(options: OpenSpeech): Promise<SpeechStream> {
    if (!this.configured) throw new SpeechError('not_configured', 'speech recognition is not configured');
    const language = options.language ?? this.#options.language;
    const fitting = this.#servers
      .filter((server) => server.streams < server.limit && options.tried?.has(server) !== true)
      .toSorted((a, b) => Number(b.language === language) - Number(a.language === language));
    if (fitting.length === 0 || this.#streams >= this.#limit)
      throw new SpeechError('busy', `all ${this.#streams} streams of speech recognition are in use`);
    let failure: unknown;
    for (const server of fitting) {
      options.tried?.add(server);
      try {
        return await this.#openAt(server, {
          language: language ?? server.language,
          hints: [],
          whole: false,
          ...options,
        });
      } catch (error) {
        if (!(error instanceof SpeechError)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  async #openAt(server: Server, options: SpeechStreamOptions): Promise<SpeechStream> {
    server.streams += 1;
    this.#streams += 1;
    let open = true;
    const release = (): void => {
      if (!open) return;
      open = false;
      server.streams -= 1;
      this.#streams -= 1;
      this.#changed();
    };
    try {
      const stream = await server.engine.open({
        ...options,
        onFailure: (error) => {
          release();
          options.onFailure(error);
        },
      });
      return new CountedStream(stream, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  get #limit(): number {
    return this.#options.parallel_streams ?? DEFAULT_STREAMS;
  }

  #server(server: AsrServer): Server {
    return {
      engine: engineOf(server, this.#nursery),
      language: server.language,
      limit: server.parallel_streams ?? Number.POSITIVE_INFINITY,
      streams: 0,
    };
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

function engineOf(server: AsrServer, nursery: Nursery): SpeechEngine {
  switch (server.engine) {
    case 'pocketsphinx': {
      const { acoustic_model: acousticModel, language_model: languageModel, dictionary } = server;
      return new Pocketsphinx(nursery, {
        ...(acousticModel === undefined ? {} : { acousticModel }),
        ...(languageModel === undefined ? {} : { languageModel }),
        ...(dictionary === undefined ? {} : { dictionary }),
      });
    }
    case 'vosk':
      return new Vosk(server.url, server.api_key);
    case 'openai':
      return new OpenAi({ url: server.url, apiKey: server.api_key, model: server.model ?? DEFAULT_MODEL });
    default:
      return server satisfies never;
  }
}

/** Gives its place back when it ends, however it does. */
class CountedStream implements SpeechStream {
  readonly #stream: SpeechStream;
  readonly #release: () => void;

  constructor(stream: SpeechStream, release: () => void) {
    this.#stream = stream;
    this.#release = release;
  }

  get backlogMs(): number {
    return this.#stream.backlogMs;
  }

  write(samples: Int16Array): void {
    this.#stream.write(samples);
  }

  drained(): Promise<void> {
    return this.#stream.drained();
  }

  async finish(): Promise<void> {
    await this.#stream.finish();
    this.#release();
  }

  close(): void {
    this.#stream.close();
    this.#release();
  }
}
