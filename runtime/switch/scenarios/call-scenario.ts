import { answer, bracketUri } from '../../signalling/index.ts';
import { type Attempt, type AttemptOptions, AttemptProgress } from '../placing/attempt.ts';
import { observeScenarioCall } from '../placing/call-observer.ts';
import { IvrCall } from './ivr-call.ts';
import type { SwitchTools } from '../tools.ts';

/** `language`: tag of the run's language, if its route names one. */
export interface CalledScenario {
  readonly code: string;
  readonly language?: string;
}

/** Calls a scenario: it becomes the B leg, and rings, answers or refuses as its blocks say. */
export function callScenario(tools: SwitchTools, { code, language }: CalledScenario, options: AttemptOptions): Attempt {
  const { dialog, caller, domain, dialled, callerNumber, timeoutMs, beforeMedia, ownSound, stop } = options;
  const progress = new AttemptProgress();
  const begun = performance.now();
  const call = IvrCall.incoming(tools, {
    dialog,
    opponent: caller,
    party: { kind: 'ivr', domain, number: dialled, name: undefined },
    onRing: (ringing) => {
      progress.progress(ringing);
      if (ownSound !== true) caller.ring();
    },
    earlyMedia: async () => {
      await beforeMedia?.();
      if ((await caller.prepareMedia()) === undefined || !caller.earlyMedia()) return false;
      progress.progress(answer(183, undefined, false));
      return true;
    },
    answer: async () => {
      await beforeMedia?.();
      try {
        await caller.prepareMedia();
      } catch (error) {
        // The run is told of the end of its call only.
        if (!caller.ended) tools.failed(error, 'call', caller);
        throw error;
      }
      await caller.answered();
      if (!dialog.ended.aborted) tools.dialogs.connected(dialog);
    },
    calling: (others) => {
      clearTimeout(timer);
      if (!others) limit();
    },
    onFinal: (final) => {
      clearTimeout(timer);
      stop?.removeEventListener('abort', stopped);
      progress.finish(final);
    },
  });
  const stopped = (): void => call.leg.release({ by: 'external', status: 487, reason: 'Request Terminated' });
  stop?.addEventListener('abort', stopped, { once: true });
  const uris = { localuri: bracketUri(callerNumber, domain), remoteuri: bracketUri(dialled, domain) };
  dialog.addBranch(call.leg, uris, Date.now() + timeoutMs);
  let timer: NodeJS.Timeout | undefined;
  // The same time limit as for a ringing phone; phones that the scenario calls for the caller have limits of their own.
  const limit = (): void => {
    timer = setTimeout(() => call.leg.release({ by: 'failure', status: 408, reason: 'Request Timeout' }), timeoutMs);
  };
  limit();
  tools.startScenario(code, call, language).then(
    (started) => {
      if (started) observeScenarioCall(tools, { domain, code, begun }, progress);
      else call.leg.release({ by: 'failure', status: 404, reason: 'Not Found' });
    },
    (err: unknown) => {
      tools.failed(err, 'scenario', call);
      call.leg.release({ by: 'failure', status: 500, reason: 'Server Internal Error' });
    },
  );
  return progress;
}
