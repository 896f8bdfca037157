/** Recordings made by scenarios. */
import type { DomainName } from '../../domain-name/index.ts';

export interface RecordOptions {
  readonly signal: AbortSignal;
  /** Absolute path of the WAV file to write, in an existing folder. */
  readonly file: string;
  /** Milliseconds of sound at most. */
  readonly maxMs: number;
  /** Milliseconds of silence that end the recording; 0: silence does not end it. */
  readonly silenceMs: number;
  /** Digits that end the recording; they are not part of it. */
  readonly stopDigits: string;
}

export interface RecordResult {
  /** Without the final silence. */
  readonly milliseconds: number;
  readonly reason: 'digit' | 'silence' | 'limit';
  readonly digit: string | undefined;
}

/** Prefix of a recording's name in place of a sound. */
export const RECORDING = 'recording:';

/** Storage of recordings. */
export interface RecordingStore {
  /** The file of a new recording; creates its folder. */
  create(domain: DomainName, name: string): Promise<string>;
  /** The file of a recording of this domain; undefined for an unknown one. */
  find(domain: DomainName, name: string): string | undefined;
  /** @returns false for an unknown recording */
  remove(domain: DomainName, name: string): Promise<boolean>;
}
