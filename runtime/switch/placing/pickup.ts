import { answer } from '../../signalling/index.ts';
import { type Attempt, type AttemptOptions, AttemptProgress, failedAttempt } from './attempt.ts';
import { LoopLeg } from '../legs/loop-leg.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import type { SwitchTools } from '../tools.ts';

/**
 * Call pickup: a phone answers a call that rings at another phone. The phone's leg moves to that call, and the dialog in
 * which it dialled ends.
 * @param number of the ringing sipuser; undefined: the call of the domain that has been ringing longest
 * @returns an attempt that ends with 404 when nothing rings there
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
    // The phone's own failure (no common codec) is found before either call changes.
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
