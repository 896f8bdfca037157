import type { CallPort, ReferOptions, Transfer } from '../call-port.ts';
import { withAbility } from './capability.ts';

/** A transfer to whichever of several targets answers first; the others are cancelled. */
export interface HuntTransfer extends Transfer {
  /** The number that answered, once one has. */
  readonly answeredBy: Promise<string | undefined>;
}

/** A call whose other party can be transferred to several targets at once. */
export interface HuntingCall {
  referToFirst(targets: readonly string[], options: Omit<ReferOptions, 'to'>): HuntTransfer;
}

/** @throws ScenarioError code `unavailable` */
export function huntingCall(call: CallPort): CallPort & HuntingCall {
  return withAbility<HuntingCall>(call, ['referToFirst'], 'ring several numbers at once');
}
