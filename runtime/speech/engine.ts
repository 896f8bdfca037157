/** The interface of speech engines: streamed sound in, text out. */

/** A recognition result. One that is not final is replaced by the next. */
export interface SpeechResult {
  readonly text: string;
  readonly final: boolean;
}

export interface SpeechStreamOptions {
  /** BCP 47 tag; undefined: the server's default. */
  readonly language: string | undefined;
  /** Expected words and phrases, a hint for engines that support it. Empty: any. */
  readonly hints: readonly string[];
  /** The sound comes from a file: faster than real time, and processed as a whole if possible. */
  readonly whole: boolean;
  /** Called in the order of the sound; not after `close`. */
  onResult(result: SpeechResult): void;
  /** The engine failed; no more results follow. Called at most once. */
  onFailure(error: SpeechError): void;
}

/** A running recognition. Sound is 8 kHz, linear. */
export interface SpeechStream {
  write(samples: Int16Array): void;
  /** Milliseconds of buffered sound that the engine has not taken yet. */
  readonly backlogMs: number;
  /** Resolves when more sound can be written without buffering; immediately after a failure. */
  drained(): Promise<void>;
  /** Marks the end of the sound. Resolves after the last result; never rejects. */
  finish(): Promise<void>;
  /** Stops immediately. Idempotent. */
  close(): void;
}

export interface SpeechEngine {
  /** @throws SpeechError when the engine is unreachable */
  open(options: SpeechStreamOptions): Promise<SpeechStream>;
}

/** A failure of speech recognition. */
export class SpeechError extends Error {
  override readonly name = 'SpeechError';
  /** `not_configured`: no engine. `busy`: every stream is in use. `failed`: the engine failed. */
  readonly code: 'not_configured' | 'busy' | 'failed';
  constructor(code: SpeechError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Samples per second of stream input. */
export const SPEECH_RATE = 8000;
