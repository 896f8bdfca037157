/** Errors of the data model as scenarios get them, in live runs and in simulations. */
import { type ErrorCode, ScenarioError } from '../language/index.ts';
import {
  BadParameterError,
  CannotApplyError,
  ConflictError,
  InvalidFieldError,
  type ModelError,
  NotFoundError,
} from '../model/index.ts';

/** `model_unknown_class`, `model_conflict`, or `model_refused`; details name the field and the reason. */
export function ofModel(error: ModelError): ScenarioError {
  const { field, reason } = error;
  if (error instanceof NotFoundError) return new ScenarioError('model_unknown_class', error.message, { cause: error });
  const code: ErrorCode = error instanceof ConflictError ? 'model_conflict' : 'model_refused';
  const isNamed = [ConflictError, InvalidFieldError, CannotApplyError, BadParameterError].some(
    (kind) => error instanceof kind,
  );
  return new ScenarioError(code, error.message, { cause: error, ...(isNamed && { details: { field, reason } }) });
}
