/** Options and results of speech recognition. */
import type { PlaySource } from '../../language/index.ts';

export interface ListenOptions {
  readonly signal: AbortSignal;
  /** Played first. */
  readonly prompt: readonly PlaySource[];
  /** Speech ends the prompt. */
  readonly bargeIn: boolean;
  /** Milliseconds from the end of the prompt to the start of speech, at most. */
  readonly timeoutMs: number;
  /** Milliseconds of silence that end the speech. */
  readonly silenceMs: number;
  /** Milliseconds of speech at most. */
  readonly maxMs: number;
  /** BCP 47 tag; undefined: the node's. */
  readonly language: string | undefined;
  /** Expected words and phrases; empty: any. */
  readonly hints: readonly string[];
  /** Nothing may show what is said. */
  readonly sensitive?: boolean;
}

export interface ListenResult {
  /** `silence`: no speech. `failed`: speech without a recognised word. */
  readonly outcome: 'heard' | 'silence' | 'failed';
  readonly text: string;
  /** Milliseconds of speech. */
  readonly milliseconds: number;
}
