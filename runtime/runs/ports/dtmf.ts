import type { CallPort } from '../call-port.ts';
import type { TailStep } from '../dtmf-tail.ts';
import { withAbility } from './capability.ts';

/** How digits go to a phone: as telephone-events in the RTP stream (RFC 4733), or as INFO requests. */
export const DTMF_PROTOS = ['rfc2833', 'sipinfo'] as const;
export type DtmfProto = (typeof DTMF_PROTOS)[number];

/** A call to whose other party digits can be sent. */
export interface DtmfCall {
  /** Sends digits and pauses in order; resolves when the last one is out. */
  sendDtmf(steps: readonly TailStep[], signal: AbortSignal): Promise<void>;
}

/** @throws ScenarioError code `unavailable` */
export function dtmfCall(call: CallPort): CallPort & DtmfCall {
  return withAbility<DtmfCall>(call, ['sendDtmf'], 'send digits');
}
