/** Calls others for a caller whom a scenario has not answered. */
import { aborted } from '../../media/index.ts';
import type { CancellableTransfer, ReferOptions, RingbackOptions } from '../../runs/index.ts';
import { answer, type SipAnswer } from '../../signalling/index.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import type { CallingLeg, Leg } from '../legs/leg.ts';
import { callerOptions, failureCause } from '../placing/attempt.ts';
import { referredHeader } from '../placing/referred-by.ts';
import type { SwitchTools } from '../tools.ts';
import { ringsFor, shownBy, type Targets } from './transfer.ts';

/** An unanswered caller and the scenario that was called. */
export interface Unanswered {
  readonly dialog: CallDialog;
  readonly caller: CallingLeg;
  /** The scenario's leg. */
  readonly scenario: Leg;
  /** Lets the caller hear that others are called, until the signal aborts. */
  readonly ringback: (options: RingbackOptions) => Promise<void>;
}

/**
 * Calls the targets in the caller's own dialog, beside the scenario, as a forking proxy would. Their answer is the caller's
 * answer, and the scenario leaves the call. When nobody answers, the caller is left with the scenario as before.
 * @returns `cancel` ends the ringing with 487
 */
export function startForward(
  tools: SwitchTools,
  { dialog, caller, scenario, ringback }: Unanswered,
  { domain, number, tail, call }: Targets,
  options: Omit<ReferOptions, 'to'>,
): CancellableTransfer {
  const stop = new AbortController();
  const stopRinging = options.ringback === false ? () => Promise.resolve() : ringing(tools, caller, ringback, options);
  const shown = shownBy(caller, options);
  if (options.binding !== undefined) dialog.bindings.add(options.binding);
  const attempt = call({
    dialog,
    caller,
    domain,
    dialled: number,
    tail,
    ...callerOptions(shown),
    timeoutMs: ringsFor(options),
    headers: referredHeader(options.referredBy),
    beforeMedia: stopRinging,
    stop: stop.signal,
    ...(options.sounds === undefined ? {} : { ownSound: true }),
    ...(options.preAnswer === undefined ? {} : { preAnswer: options.preAnswer }),
  });
  const final = attempt.final.then(async (result) => {
    await stopRinging();
    if (result.status >= 300) removeBranches(dialog, scenario, result);
    // Established without the scenario, the dialog no longer releases its leg.
    else if (scenario.owner === dialog) scenario.owner = undefined;
    return result;
  });
  const { provisional } = attempt;
  return { acallid: caller.callid, dialogid: dialog.dialogid, provisional, final, cancel: () => stop.abort() };
}

/** Removes those who were called for the caller and did not answer. */
function removeBranches(dialog: CallDialog, scenario: Leg, final: SipAnswer): void {
  for (const { leg, side } of dialog.legs) {
    if (side === 'a' || leg === scenario || leg.owner !== dialog) continue;
    dialog.removeBranch(leg.callid, final.local ? final : answer(487, undefined, true));
    leg.release(failureCause(final));
  }
}

/** @returns a function that ends the sound, and settles when the caller's endpoint is free again */
function ringing(
  tools: SwitchTools,
  caller: CallingLeg,
  ringback: Unanswered['ringback'],
  { sounds }: Pick<ReferOptions, 'sounds'>,
): () => Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const over = ringback({ signal, sounds }).catch(async (err: unknown) => {
    if (signal.aborted || caller.ended) return;
    tools.failed(err, 'ringback', caller);
    await aborted(signal);
  });
  return async () => {
    stop.abort();
    await over;
  };
}
