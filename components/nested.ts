import { ScenarioError } from '../runtime/language/index.ts';
import { type AwaitedRun, failureTextForOthers, type Run, type RunOutcome } from '../runtime/runs/index.ts';
import { untilSettled } from './until-settled.ts';

/**
 * Waits for a scenario started by another one, which the signal ends, too.
 * @throws ScenarioError the error of the failed scenario
 */
export async function untilFinished(run: Run, signal: AbortSignal): Promise<RunOutcome> {
  const stop = (): void => run.stop('the scenario that called it was interrupted');
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return succeeded(run, await run.settled, signal);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * Waits for a scenario, which goes on when the signal ends the wait.
 * @throws ScenarioError the error of the failed scenario
 */
export async function outcomeOf<Outcome extends Pick<RunOutcome, 'error'>>(
  run: Pick<AwaitedRun, 'program'> & { readonly settled: Promise<Outcome> },
  signal: AbortSignal,
): Promise<Outcome> {
  return succeeded(run, await untilSettled(run.settled, signal), signal);
}

function succeeded<Outcome extends Pick<RunOutcome, 'error'>>(
  { program }: Pick<AwaitedRun, 'program'>,
  outcome: Outcome,
  signal: AbortSignal,
): Outcome {
  signal.throwIfAborted();
  const { error } = outcome;
  if (error === undefined) return outcome;
  const { code, details } = error;
  throw new ScenarioError(
    code,
    `${program.id}: ${failureTextForOthers(error)}`,
    details === undefined ? {} : { details },
  );
}
