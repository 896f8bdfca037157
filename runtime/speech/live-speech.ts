import { type MediaEndpoint, type Tap, tapEndpoint } from '../media/index.ts';
import { SpeechError, type SpeechResult } from './engine.ts';
import type { OpenSpeech, ServedStream, SpeechService } from './service.ts';

/** An engine that lags this far behind a live call is given up, in milliseconds. */
const MAX_BACKLOG_MS = 20_000;

export interface LiveSpeechOptions {
  readonly endpoint: MediaEndpoint;
  readonly language?: string;
  /** The caller ends it once this one has started: its stream counts as free. */
  readonly instead?: LiveSpeech;
  readonly onResult: (result: SpeechResult) => void;
  /** It is over by itself: the party has gone (undefined), or the engine failed. Called at most once. */
  readonly onEnd: (error: SpeechError | undefined) => void;
}

/** What one party of a live call says, recognised as it is said. */
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
    /** Before it has started, a failure is the answer to the start. */
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

  /** Listens no more. Resolves when the last result has been told; never rejects. */
  stop(): Promise<void> {
    this.#stopped ??= Promise.all([this.#tap.close(), this.#stream.finish()]).then(() => undefined);
    return this.#stopped;
  }

  /** Listens no more, and tells the last words unless somebody else needs the stream. Resolves when it is over; never rejects. */
  leave(): Promise<void> {
    this.#stopped ??= Promise.all([this.#tap.close(), this.#stream.leave()]).then(() => undefined);
    return this.#stopped;
  }

  /** Ends it at once. */
  close(): void {
    this.#stream.close();
    void this.stop();
  }
}
