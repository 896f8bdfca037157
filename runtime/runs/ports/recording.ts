export interface RecordOptions {
  readonly signal: AbortSignal;
  /** WAV file to write, absolute; its folder exists. */
  readonly file: string;
  /** Milliseconds of sound at most. */
  readonly maxMs: number;
  /** Milliseconds of silence that end the recording; 0: silence does not. */
  readonly silenceMs: number;
  /** Digits that end the recording; they are not part of it. */
  readonly stopDigits: string;
}

export interface RecordResult {
  /** Without the silence that ended it. */
  readonly milliseconds: number;
  readonly reason: 'digit' | 'silence' | 'limit';
  readonly digit: string | undefined;
}

/** What stands before the name of a recording where a sound is wanted. */
export const RECORDING = 'recording:';

/** Where recordings are kept. */
export interface RecordingStore {
  /** The file of a new recording; its folder exists afterwards. */
  create(domain: string, name: string): Promise<string>;
  /** The file of a recording of this domain; undefined when there is none. */
  find(domain: string, name: string): string | undefined;
  /** @returns false when there is none */
  remove(domain: string, name: string): Promise<boolean>;
}
