import { answer } from '../../signalling/index.ts';
import { type Attempt, type AttemptOptions, AttemptProgress, failedAttempt } from './attempt.ts';
import { LoopLeg } from '../legs/loop-leg.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * Call pickup: a phone takes a call that rings elsewhere. Its own call is over with that: its leg answers the other one.
 * @param number whose phone rings; undefined: any of the domain, the one that began to ring first
 * @returns an attempt that ends with 404 when nothing rings there (any more)
 */
export function pickUp(
  tools: SwitchTools,
  number: string | undefined,
  { caller, dialog, domain }: AttemptOptions,
): Attempt {
  const ringing = tools.dialogs.ringingAt(domain, number, dialog);
  if (ringing?.pickup === undefined) return failedAttempt(404);
  if (!(caller instanceof PhoneLeg || caller instanceof LoopLeg)) return failedAttempt(488);
  const progress = new AttemptProgress();
  const { pickup } = ringing;
  const take = async () => {
    // The phone's own failure (no common codec) is found before anything is taken apart.
    await caller.prepareMedia(ringing.a.mediaServer);
    if (caller.ended) return false;
    return pickup(caller, () => dialog.endWithout(caller, { by: 'transfer', status: 480, reason: 'Picked Up' }));
  };
  take().then(
    (taken) => progress.finish(taken ? answer(200, 'OK', false) : answer(404, undefined, true)),
    (err: unknown) => {
      tools.failed(err, 'pickup', caller);
      progress.finish(answer(500, undefined, true));
    },
  );
  return progress;
}
