import type { CallPort, PlayResult } from '../call-port.ts';
import { withAbility } from './capability.ts';

export interface SayOptions {
  readonly signal: AbortSignal;
  /** BCP 47 tag, e.g. `en-GB`; undefined: the node's. */
  readonly language?: string;
  /** A voice by the speech engine's name. */
  readonly voice?: string;
  /** A digit out of this set ends the speech and is returned. */
  readonly stopDigits?: string;
}

/** A call to whose other party a text can be spoken. */
export interface SpeakingCall {
  say(text: string, options: SayOptions): Promise<PlayResult>;
}

/** @throws ScenarioError code `unavailable` */
export function speakingCall(call: CallPort): CallPort & SpeakingCall {
  return withAbility<SpeakingCall>(call, ['say'], 'speak: no speech synthesis is set up');
}
