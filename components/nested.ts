import { ScenarioError } from '../runtime/language/index.ts';
import { failureTextForOthers, type Run, type RunOutcome } from '../runtime/runs/index.ts';

/**
 * Waits for a scenario started by another one.
 * @param stops true: the signal ends the scenario; false: only the wait
 * @throws ScenarioError the error of the failed scenario
 */
export async function untilFinished(run: Run, signal: AbortSignal, stops: boolean): Promise<RunOutcome> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => {
    if (stops) run.stop('the scenario that called it was interrupted');
    else aborted.reject(signal.reason);
  };
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    const outcome = await Promise.race([run.settled, aborted.promise]);
    signal.throwIfAborted();
    const { error } = outcome;
    if (error) {
      const { code, details } = error;
      throw new ScenarioError(
        code,
        `${run.program.id}: ${failureTextForOthers(error)}`,
        details === undefined ? {} : { details },
      );
    }
    return outcome;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
