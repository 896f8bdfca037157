import { ScenarioError, type Value } from '../../language/index.ts';
import type { OperationObserver } from './runner.ts';

/**
 * Starts an operation, and reports its answer and the time since the request to the observer. Refused operations, and those
 * without a scenario, are reported too.
 */
export async function observed<Started extends { readonly response: Promise<Value> }>(
  observer: OperationObserver | undefined,
  operation: string,
  start: () => Promise<Started>,
): Promise<Started> {
  if (observer === undefined) return start();
  const begun = performance.now();
  const refused = (error: unknown): void =>
    observer.refused(operation, error instanceof ScenarioError ? error.code : 'internal');
  try {
    const started = await start();
    // The caller has the error itself.
    started.response.then(
      (answer) => observer.answered(operation, resultOf(answer), (performance.now() - begun) / 1000),
      refused,
    );
    return started;
  } catch (error) {
    refused(error);
    throw error;
  }
}

function resultOf(answer: Value): string {
  const result = typeof answer === 'object' && answer !== null && 'result' in answer ? answer.result : undefined;
  return typeof result === 'string' ? result : 'ok';
}
