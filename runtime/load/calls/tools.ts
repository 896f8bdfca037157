/** What the calls of a run share. */
import type { FarEnd, SoundTools } from '../media/sound.ts';
import { isLoopback } from '../addresses.ts';
import type { LoadPlan } from '../plan.ts';
import type { SipAgent } from '../sip/agent.ts';
import { farEndOf } from '../sip/sdp.ts';
import type { Received } from '../media/reception.ts';

export interface CallTools extends SoundTools {
  readonly plan: LoadPlan;
  readonly agent: SipAgent;
  /** Aborted at the end of the run by a signal: calls end. */
  readonly stop: AbortSignal;
  /** Sums of the sound received by callers and called phones. */
  readonly received: { readonly caller: Received; readonly called: Received };
}

/** The far end of a session description, or why it is of no use. */
export function usableFarEnd(body: Buffer, { plan }: CallTools): FarEnd | string {
  const far = farEndOf(body);
  if (far === undefined) return 'no G.711 in the session description';
  if (!plan.allowNetwork && !isLoopback(far.address)) return `sound for ${far.address} needs --allow-network`;
  return far;
}
