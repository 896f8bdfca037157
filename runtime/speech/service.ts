/** Speech recognition of the node: servers, streams and limits. */
import { type AsrOptions, asrOptionsProblem, type AsrServer } from '../domain/index.ts';
import type { Nursery } from '../processes/index.ts';
import { untilActive } from './activity.ts';
import { type SpeechEngine, SpeechError, type SpeechStream, type SpeechStreamOptions } from './engine.ts';
import { OpenAi } from './engines/openai.ts';
import { Pocketsphinx, pocketsphinxInstalled } from './engines/pocketsphinx.ts';
import { Vosk } from './engines/vosk.ts';

/** Default number of concurrent streams. */
const DEFAULT_STREAMS = 4;
const DEFAULT_MODEL = 'whisper-1';
/** Message when no engine is configured. */
export const NO_ENGINE =
  'speech recognition is not configured: install pocketsphinx, or name a server in record_asr_options';

interface Server {
  readonly engine: SpeechEngine;
  readonly language: string | undefined;
  readonly limit: number;
}

/** A stream's entry in the limits until its end. */
interface Place {
  readonly server: Server;
  /** Nobody waits for its last words: it ends when its place is needed. */
  leaving: boolean;
  /** Stops the stream immediately. */
  close(): void;
}

/** A stream of the service; it counts against the limits until its end. */
export interface ServedStream extends SpeechStream {
  /**
   * Marks the end of the sound without waiting for the last words: they follow unless another user needs the place.
   * Resolves at the end of the stream; never rejects.
   */
  leave(): Promise<void>;
}

/** Options of a stream; the configuration supplies the defaults. */
export type OpenSpeech = Pick<SpeechStreamOptions, 'onResult' | 'onFailure'> &
  Partial<Pick<SpeechStreamOptions, 'language' | 'hints' | 'whole'>> & {
    /** Servers to skip because they failed at this work; each server asked is added. */
    readonly tried?: Set<object>;
    /** A stream that ends once this one is open: its place counts as free. */
    readonly instead?: ServedStream;
  };

/**
 * Speech recognition of the node: the servers of `record_asr_options`, or an installed pocketsphinx, with a limit of
 * concurrent streams.
 */
export class SpeechService {
  readonly #nursery: Nursery;
  readonly #installed: () => boolean;
  readonly #listeners = new Set<() => void>();
  #options: AsrOptions = {};
  #servers: readonly Server[] = [];
  readonly #places = new Set<Place>();

  /**
   * @param nursery starts engines
   * @param installed true when pocketsphinx is installed; asked again until it is
   */
  constructor(nursery: Nursery, installed: () => boolean = pocketsphinxInstalled) {
    this.#nursery = nursery;
    this.#installed = installed;
    this.configure(undefined);
  }

  /**
   * Applies new options; open streams continue. Invalid options switch speech recognition off.
   * @param value the setting; undefined: not set
   * @returns the mistake, if any
   */
  configure(value: unknown): string | undefined {
    const problem = value === undefined ? undefined : asrOptionsProblem(value);
    this.#options = problem === undefined ? (value ?? {}) : { enabled: false };
    const { enabled = true, servers = [] } = this.#options;
    this.#servers = enabled ? servers.map((server) => this.#server(server)) : [];
    this.#changed();
    return problem;
  }

  /** True when an engine is configured or installed. */
  get configured(): boolean {
    return this.#engines().length > 0;
  }

  /** Number of streams permitted at once. */
  get capacity(): number {
    return Math.min(
      this.#limit,
      this.#engines().reduce((sum, { limit }) => sum + limit, 0),
    );
  }

  /** Streams that can be opened without ending another. */
  get free(): number {
    const left = this.#engines().reduce((sum, server) => sum + Math.max(0, server.limit - this.#streamsOf(server)), 0);
    return Math.max(0, Math.min(this.#limit - this.streams, left));
  }

  /** Number of open streams. */
  get streams(): number {
    return this.#places.size;
  }

  /** Milliseconds until the activity time of transcriptions begins; 0 within it. */
  untilActive(now: number): number {
    return untilActive(this.#options.activity_time, now);
  }

  /** Calls back when a stream may have become free, or the options changed; returns the function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Opens a stream at the first server that accepts it, servers of the wanted language first.
   * @throws SpeechError
   */
  async open(options: OpenSpeech): Promise<ServedStream> {
    const servers = this.#engines();
    if (servers.length === 0) throw new SpeechError('not_configured', NO_ENGINE);
    const language = options.language ?? this.#options.language;
    const replaced = options.instead instanceof CountedStream ? options.instead.place : undefined;
    const staying = [...this.#places].filter((place) => !place.leaving && place !== replaced);
    const fitting = servers
      .filter((server) => staying.filter((place) => place.server === server).length < server.limit)
      .filter((server) => options.tried?.has(server) !== true)
      .toSorted((a, b) => Number(b.language === language) - Number(a.language === language));
    if (fitting.length === 0 || staying.length >= this.#limit)
      throw new SpeechError('busy', `all ${staying.length} streams of speech recognition are in use`);
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

  async #openAt(server: Server, options: SpeechStreamOptions): Promise<ServedStream> {
    const place: Place = { server, leaving: false, close: () => undefined };
    this.#places.add(place);
    this.#makeRoom();
    const release = (): void => {
      if (this.#places.delete(place)) this.#changed();
    };
    try {
      const stream = await server.engine.open({
        ...options,
        onFailure: (error) => {
          release();
          options.onFailure(error);
        },
      });
      const counted = new CountedStream(stream, place, release, () => this.#makeRoom());
      place.close = () => counted.close();
      return counted;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Ends leaving streams while there are more streams than permitted. */
  #makeRoom(): void {
    for (const place of this.#places) {
      const isOver = this.streams > this.#limit || this.#streamsOf(place.server) > place.server.limit;
      if (place.leaving && isOver) place.close();
    }
  }

  #streamsOf(server: Server): number {
    return [...this.#places].filter((place) => place.server === server).length;
  }

  /** The configured servers; without any, pocketsphinx as soon as it is installed. */
  #engines(): readonly Server[] {
    const { enabled = true, servers } = this.#options;
    if (enabled && servers === undefined && this.#servers.length === 0 && this.#installed()) {
      this.#servers = [this.#server({ engine: 'pocketsphinx' })];
      // Not at once: who asks may be a listener that is in the middle of its work.
      queueMicrotask(() => this.#changed());
    }
    return this.#servers;
  }

  get #limit(): number {
    return this.#options.parallel_streams ?? DEFAULT_STREAMS;
  }

  #server(server: AsrServer): Server {
    return {
      engine: engineOf(server, this.#nursery),
      language: server.language,
      limit: server.parallel_streams ?? Number.POSITIVE_INFINITY,
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

/** A stream that returns its place at its end. */
class CountedStream implements ServedStream {
  readonly place: Place;
  readonly #stream: SpeechStream;
  readonly #release: () => void;
  readonly #makeRoom: () => void;

  constructor(stream: SpeechStream, place: Place, release: () => void, makeRoom: () => void) {
    this.#stream = stream;
    this.place = place;
    this.#release = release;
    this.#makeRoom = makeRoom;
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

  leave(): Promise<void> {
    const finished = this.finish();
    this.place.leaving = true;
    this.#makeRoom();
    return finished;
  }

  close(): void {
    this.#stream.close();
    this.#release();
  }
}
