/** Why an operation on a live dialog does not start. Nothing has happened then. */
export type OperationProblem =
  /** No dialog of the domain is meant. */
  | { readonly kind: 'dialog_not_found' }
  /** The selector names several dialogs, and the operation takes one. */
  | { readonly kind: 'ambiguous'; readonly field: string; readonly ids: readonly string[] }
  /** The dialog is there, but this cannot be done to it. */
  | { readonly kind: 'not_applicable'; readonly field: string; readonly reason: string };

/** An operation could not start; the REST bridge makes 404/1413, 409/1402 or 422/1405 of it. */
export class OperationError extends Error {
  override readonly name = 'OperationError';
  readonly problem: OperationProblem;
  constructor(problem: OperationProblem) {
    super(describe(problem));
    this.problem = problem;
  }
}

function describe(problem: OperationProblem): string {
  switch (problem.kind) {
    case 'dialog_not_found':
      return 'Dialog not found';
    case 'ambiguous':
      return `${problem.field}: names ${problem.ids.length} dialogs`;
    case 'not_applicable':
      return `${problem.field}: ${problem.reason}`;
    default:
      return problem satisfies never;
  }
}
