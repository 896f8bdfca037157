/** Speech recognition of one party of a live call. */
import { type MediaEndpoint, type Tap, tapEndpoint } from '../media/index.ts';
import { SpeechError, type SpeechResult } from './engine.ts';
import type { OpenSpeech, ServedStream, SpeechService } from './service.ts';

/** Milliseconds of backlog after which an engine is too slow for a live call. */
const MAX_BACKLOG_MS = 20_000;

export interface LiveSpeechOptions {
  readonly endpoint: MediaEndpoint;
  readonly language?: string;
  /** The recognition that this one replaces after its start: its stream counts as free. */
  readonly instead?: LiveSpeech;
  readonly onResult: (result: SpeechResult) => void;
  /** It ended by itself: the party left (undefined), or the engine failed. Called at most once. */
  readonly onEnd: (error: SpeechError | undefined) => void;
}

/** Recognises one party of a live call. */
export class LiveSpeech {
  readonly #stream: ServedStream;
  readonly #tap: Tap;
  #stopped: Promise<void> | undefined;

  private constructor(stream: ServedStream, tap: Tap) {
    this.#stream = stream;
    this.#tap = tap;
  }

  /** @throws SpeechError; MediaError, EndpointGone */
  static async start(service: SpeechService, options: LiveSpeechOptions): Promise<LiveSpeech> {
    const { endpoint, language, instead, onResult } = options;
    let ended = false;
    let live: LiveSpeech | undefined;
    /** A failure before the start rejects the start. */
    const early: SpeechError[] = [];
    const end = (error: SpeechError | undefined): void => {
      if (ended) return;
      ended = true;
      if (live === undefined) {
        if (error !== undefined) early.push(error);
        return;
      }
      void live.stop();
      options.onEnd(error);
    };
    const open: OpenSpeech = {
      onResult,
      onFailure: end,
      ...(language === undefined ? {} : { language }),
      ...(instead === undefined ? {} : { instead: instead.#stream }),
    };
    const stream = await service.open(open);
    const hear = (samples: Int16Array): void => {
      stream.write(samples);
      if (stream.backlogMs > MAX_BACKLOG_MS) {
        stream.close();
        end(new SpeechError('failed', 'the speech server is too slow for a live call'));
      }
    };
    try {
      const tap = await tapEndpoint(endpoint, hear);
      const [failure] = early;
      if (failure !== undefined) {
        await tap.close();
        throw failure;
      }
      live = new LiveSpeech(stream, tap);
      const speech = live;
      tap.over.addEventListener(
        'abort',
        () => {
          void speech.stop().then(() => end(undefined));
        },
        { once: true },
      );
      return live;
    } catch (error) {
      stream.close();
      throw error;
    }
  }

  /** Stops listening. Resolves after the last result; never rejects. */
  stop(): Promise<void> {
    this.#stopped ??= Promise.all([this.#tap.close(), this.#stream.finish()]).then(() => undefined);
    return this.#stopped;
  }

  /**
   * Stops listening; the last words follow unless another user needs the stream. Resolves at the end; never rejects.
   */
  leave(): Promise<void> {
    this.#stopped ??= Promise.all([this.#tap.close(), this.#stream.leave()]).then(() => undefined);
    return this.#stopped;
  }

  /** Stops immediately. */
  close(): void {
    this.#stream.close();
    void this.stop();
  }
}
