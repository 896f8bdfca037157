import { ScenarioError, type Value } from '../../language/index.ts';
import type { OperationObserver } from './runner.ts';

/**
 * Starts an operation, and tells the observer what it was answered with and how long after the request: one that only looks
 * and one that is refused as well as one that runs.
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
    // Whoever asked has the error itself.
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
