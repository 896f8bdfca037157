import type { RunError } from '../runs/index.ts';
import { ScenarioError } from '../language/index.ts';

/** Why an operation is not done. */
export type OperationProblem =
  /** No dialog that the caller may see is meant. */
  | { readonly kind: 'dialog_not_found' }
  /** The selector names several dialogs, and the operation takes one. */
  | { readonly kind: 'ambiguous'; readonly field: string; readonly ids: readonly string[] }
  /** The dialog is there, but this cannot be done to it. */
  | { readonly kind: 'not_applicable'; readonly field: string; readonly reason: string }
  /** The caller may not do this, e.g. call in the name of somebody else. */
  | { readonly kind: 'forbidden' }
  /** Something else that is named is not there, e.g. a conference. */
  | { readonly kind: 'not_found'; readonly entity: string }
  /** The node takes no more calls at the moment. */
  | { readonly kind: 'overload'; readonly reason: string; readonly retryAfterSeconds: number };

/**
 * An operation could not be done, and nothing has happened. Its code is the kind of the problem. The REST bridge makes
 * 404/1413, 409/1402, 422/1405, 403/1401, 404/1404 or 503/1503 of it.
 */
export class OperationError extends ScenarioError {
  override readonly name = 'OperationError';
  readonly problem: OperationProblem;
  constructor(problem: OperationProblem) {
    super(problem.kind, describe(problem), { details: { ...problem } });
    this.problem = problem;
  }
}

/** What an operation that does not fit the state of its dialog is refused with before it begins. */
export function notApplicable(field: string, reason: string): OperationError {
  return new OperationError({ kind: 'not_applicable', field, reason });
}

/** The error of a component as the operation's; undefined when it is none that the caller could have caused. */
export function problemOf({
  code,
  details,
}: Pick<RunError, 'code'> & { readonly details?: RunError['details'] | undefined }): OperationError | undefined {
  if (code === 'dialog_not_found') return new OperationError({ kind: 'dialog_not_found' });
  if (code === 'recording_not_found') return new OperationError({ kind: 'not_found', entity: 'Recording' });
  const { field, reason } = details ?? {};
  if (code !== 'not_applicable' || typeof field !== 'string' || typeof reason !== 'string') return undefined;
  return notApplicable(field, reason);
}

function describe(problem: OperationProblem): string {
  switch (problem.kind) {
    case 'dialog_not_found':
      return 'Dialog not found';
    case 'ambiguous':
      return `${problem.field}: names ${problem.ids.length} dialogs: ${problem.ids.join(', ')}`;
    case 'not_applicable':
      return `${problem.field}: ${problem.reason}`;
    case 'forbidden':
      return 'Access forbidden';
    case 'not_found':
      return `${problem.entity} not found`;
    case 'overload':
      return problem.reason;
    default:
      return problem satisfies never;
  }
}
