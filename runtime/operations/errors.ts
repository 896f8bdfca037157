/** Errors of refused operations. */
import type { RunError } from '../runs/index.ts';
import { ScenarioError } from '../language/index.ts';

/** Why an operation was refused. */
export type OperationProblem =
  /** No dialog that the caller may see matches. */
  | { readonly kind: 'dialog_not_found' }
  /** The selector names several dialogs, and the operation takes one. */
  | { readonly kind: 'ambiguous'; readonly field: string; readonly ids: readonly string[] }
  /** The operation or a parameter does not fit the present state of the target. */
  | { readonly kind: 'not_applicable'; readonly field: string; readonly reason: string }
  /** The caller lacks a right, e.g. to call from the account of another user. */
  | { readonly kind: 'forbidden' }
  /** Another named entity is missing, e.g. a conference. */
  | { readonly kind: 'not_found'; readonly entity: string }
  /** The node refuses new calls at the moment. */
  | { readonly kind: 'overload'; readonly reason: string; readonly retryAfterSeconds: number }
  /** Another node of the cluster, which the operation needs, does not answer at the moment. */
  | { readonly kind: 'node_unreachable'; readonly reason: string; readonly retryAfterSeconds: number };

/**
 * A refused operation, which has changed nothing. Its code is the kind of the problem. The REST bridge answers with 404/1413,
 * 409/1402, 422/1405, 403/1401, 404/1404 or 503/1503.
 */
export class OperationError extends ScenarioError {
  override readonly name = 'OperationError';
  readonly problem: OperationProblem;
  constructor(problem: OperationProblem) {
    super(problem.kind, describe(problem), { details: { ...problem } });
    this.problem = problem;
  }
}

/** The error of an operation that does not fit the present state of its target. */
export function notApplicable(field: string, reason: string): OperationError {
  return new OperationError({ kind: 'not_applicable', field, reason });
}

/** The operation's error for the error of a component; undefined for an error that the caller has not caused. */
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
    case 'node_unreachable':
      return problem.reason;
    default:
      return problem satisfies never;
  }
}
