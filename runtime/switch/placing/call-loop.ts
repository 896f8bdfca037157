import type { RouteDecision } from '../../domain/index.ts';
import { answer, bracketUri } from '../../signalling/index.ts';
import { type Attempt, type AttemptOptions, AttemptProgress, failedAttempt, failureCause } from './attempt.ts';
import { Loop } from '../legs/loop-leg.ts';
import type { Party } from '../legs/party.ts';
import { sendDigits } from '../legs/send-digits.ts';
import type { SwitchTools } from '../tools.ts';

type LoopedDecision = RouteDecision & { readonly kind: 'scenario' | 'conference' | 'pickup' };

/**
 * Calls a scenario or a conference from a scenario, or picks up a ringing call. Neither side has media of its own. So the
 * call goes out through one half of a loop and comes in through the other, like a call of a phone with the scenario's
 * number. A room lets it in without a PIN. The attempt ends with 503 when the domain has too many loops.
 */
export function callThroughLoop(tools: SwitchTools, decision: LoopedDecision, options: AttemptOptions): Attempt {
  const { dialog, domain, dialled, callerNumber, callerName, timeoutMs, tail, dtmfProto } = options;
  const over = tools.loops.take(domain);
  if (over === undefined) return failedAttempt(503);
  const progress = new AttemptProgress();
  const caller: Party = { kind: 'ivr', domain, number: callerNumber, name: callerName };
  const ringing = (): void => progress.progress(answer(180, undefined, false));
  const { near, far } = new Loop(tools, { near: calledBy(decision, options), far: caller }, { ringing, over });
  const uris = { localuri: bracketUri(callerNumber, domain), remoteuri: bracketUri(dialled, domain) };
  dialog.addBranch(near, uris, Date.now() + timeoutMs);
  const onward = tools.dialogs.open({
    a: far,
    localuri: bracketUri(dialled, domain),
    remoteuri: bracketUri(callerNumber, domain),
    site: tools.site,
    carried: dialog.carried,
  });
  const attempt = tools.placeCall(decision, {
    ...options,
    dialog: onward,
    caller: far,
    tail: [],
    entrance: { brought: true, through: dialog.dialogid, ...options.entrance },
  });
  void attempt.final.then((final) => {
    if (final.status >= 300) {
      onward.end(failureCause(final));
      progress.finish(final);
    } else if (dialog.establish(near)) {
      progress.finish(final);
      if (tail.length > 0) sendDigits(tools, near, tail, dtmfProto ?? 'rfc2833');
    } else {
      near.release({ by: 'a', status: 487, reason: 'Request Terminated' });
      progress.finish(answer(487, undefined, true));
    }
  });
  return progress;
}

function calledBy(decision: LoopedDecision, { domain, dialled: number }: AttemptOptions): Party {
  if (decision.kind === 'conference') return { kind: 'conference', domain: decision.featureCode.domain, number };
  if (decision.kind === 'pickup') return { kind: 'unknown', domain, number };
  return { kind: 'ivr', domain: decision.domain ?? domain, number, name: undefined };
}
