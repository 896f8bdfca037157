import type { DtmfProto, TailStep } from '../../runs/index.ts';
import type { Leg } from './leg.ts';
import type { PhoneLegTools } from './phone-leg-tools.ts';

/**
 * Queues digits for a leg without waiting for them. The end of the leg drops them.
 * @returns false when the queue is full
 */
export function sendDigits(
  tools: Pick<PhoneLegTools, 'failed'>,
  leg: Leg,
  steps: readonly TailStep[],
  proto: DtmfProto,
): boolean {
  const { dtmf } = leg;
  if (dtmf?.hasRoom(steps) !== true) return false;
  dtmf.send(steps, proto).catch((err: unknown) => {
    if (!dtmf.over) tools.failed(err, 'DTMF', leg);
  });
  return true;
}
