import type { PlaySource } from '../../language/index.ts';

export interface ListenOptions {
  readonly signal: AbortSignal;
  /** Played first. */
  readonly prompt: readonly PlaySource[];
  /** Speech ends the prompt. */
  readonly bargeIn: boolean;
  /** Milliseconds after the prompt in which somebody has to begin to speak. */
  readonly timeoutMs: number;
  /** Milliseconds of silence that end what is said. */
  readonly silenceMs: number;
  /** Milliseconds of speech at most. */
  readonly maxMs: number;
  /** BCP 47 tag; undefined: the node's. */
  readonly language: string | undefined;
  /** Words and phrases that are expected; empty: anything. */
  readonly hints: readonly string[];
}

export interface ListenResult {
  /** `silence`: nobody spoke. `failed`: somebody did, and was not understood. */
  readonly outcome: 'heard' | 'silence' | 'failed';
  readonly text: string;
  /** Milliseconds of speech. */
  readonly milliseconds: number;
}
