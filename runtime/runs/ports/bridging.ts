import type { CallPort } from '../call-port.ts';
import { withAbility } from './capability.ts';

/** A call whose other party can talk with that of another call of the same scenario. */
export interface BridgingCall {
  /**
   * Connects the sound of both other parties until one of the calls is over or the signal aborts. A call that is not
   * over is the scenario's as before.
   * @returns whose call ended: `this` or `other`
   * @throws CallStateError when one of the calls is not connected; the signal's reason
   */
  bridge(other: CallPort, signal: AbortSignal): Promise<'this' | 'other'>;
}

/** @throws ScenarioError code `unavailable` */
export function bridgingCall(call: CallPort): CallPort & BridgingCall {
  return withAbility<BridgingCall>(call, ['bridge'], 'be connected with each other');
}
