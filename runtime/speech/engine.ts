/** What every speech engine offers: sound in as it comes, text out. */

/** What an engine understood. A result that is not final is replaced by the next one. */
export interface SpeechResult {
  readonly text: string;
  readonly final: boolean;
}

export interface SpeechStreamOptions {
  /** BCP 47 tag; undefined: the server's. */
  readonly language: string | undefined;
  /** Words and phrases that are expected; engines that can keep to them do. Empty: anything. */
  readonly hints: readonly string[];
  /** The sound comes from a file: all at once, and it may be looked at as a whole. */
  readonly whole: boolean;
  /** Called in the order of the sound; not after `close`. */
  onResult(result: SpeechResult): void;
  /** The engine gave up; nothing comes any more. Called at most once. */
  onFailure(error: SpeechError): void;
}

/** A recognition that goes on. Sound is 8 kHz, linear. */
export interface SpeechStream {
  write(samples: Int16Array): void;
  /** Milliseconds of sound that the engine has not taken yet. */
  readonly backlogMs: number;
  /** Resolves when more sound can be written without piling it up; at once after a failure. */
  drained(): Promise<void>;
  /** No more sound comes. Resolves when every result has been told; never rejects. */
  finish(): Promise<void>;
  /** Ends it at once. Idempotent. */
  close(): void;
}

export interface SpeechEngine {
  /** @throws SpeechError when the engine cannot be reached */
  open(options: SpeechStreamOptions): Promise<SpeechStream>;
}

/** Speech cannot be recognised. */
export class SpeechError extends Error {
  override readonly name = 'SpeechError';
  /** `not_configured`: there is no engine. `busy`: every stream is in use. `failed`: the engine did not do its work. */
  readonly code: 'not_configured' | 'busy' | 'failed';
  constructor(code: SpeechError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Samples per second of the sound that streams take. */
export const SPEECH_RATE = 8000;
