/** Errors of operations on their way from node to node. */
import { OperationError, type OperationProblem, ParameterError } from '../../operations/index.ts';
import { type ErrorCode, ScenarioError, type Value } from '../../language/index.ts';

/** An error as one node tells it to another. */
export type ToldError =
  | { readonly kind: 'operation'; readonly problem: OperationProblem }
  | { readonly kind: 'parameter'; readonly field: string; readonly reason: string }
  | {
      readonly kind: 'scenario';
      readonly code: ErrorCode;
      readonly message: string;
      readonly details?: Readonly<Record<string, Value>>;
    };

/** @throws the error itself, when it is a fault of the node, which its own log has */
export function told(error: unknown): ToldError {
  if (error instanceof OperationError) return { kind: 'operation', problem: error.problem };
  if (error instanceof ParameterError) return { kind: 'parameter', field: error.field, reason: error.reason };
  if (!(error instanceof ScenarioError)) throw error;
  const { code, message, details } = error;
  return { kind: 'scenario', code, message, ...(details !== undefined && { details }) };
}

/** The same error, as the node that asked throws it. */
export function toldError(error: ToldError): Error {
  switch (error.kind) {
    case 'operation':
      return new OperationError(error.problem);
    case 'parameter':
      return new ParameterError(error.field, error.reason);
    case 'scenario':
      return new ScenarioError(
        error.code,
        error.message,
        error.details === undefined ? {} : { details: error.details },
      );
    default:
      return error satisfies never;
  }
}
