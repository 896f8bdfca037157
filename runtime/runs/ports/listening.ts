import type { CallPort } from '../call-port.ts';
import type { PlaySource } from '../../language/call-words.ts';
import { withAbility } from './capability.ts';

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

/** A call whose other party can be understood. Rejects with ScenarioError `unavailable` where there is no engine. */
export interface ListeningCall {
  listen(options: ListenOptions): Promise<ListenResult>;
}

/** @throws ScenarioError code `unavailable` */
export function listeningCall(call: CallPort): CallPort & ListeningCall {
  return withAbility<ListeningCall>(call, ['listen'], 'understand speech');
}
