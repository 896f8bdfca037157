import {
  BrokenImporterError,
  DuplicateError,
  EntityError,
  EntityInUseError,
  EntityNotFoundError,
  InvalidFieldError,
  OutdatedChangeError,
} from '../../runtime/domain/index.ts';
import { badParameter, RestError } from '../errors.ts';

/** Converts errors of writing an entity to REST errors. */
export async function asRestErrors<T>(entity: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw error instanceof EntityError ? restError(entity, error) : error;
  }
}

function restError(entity: string, error: EntityError): RestError {
  if (error instanceof InvalidFieldError) return badParameter(error.field, error.reason);
  if (error instanceof OutdatedChangeError) {
    const { field, message: reason, base, current } = error;
    return new RestError('CONFLICT', { field, reason, base, current });
  }
  if (error instanceof BrokenImporterError) {
    const { field, message: reason, importers } = error;
    return new RestError('CANNOT_APPLY', { field, reason, importers });
  }
  if (error instanceof EntityNotFoundError) return new RestError('ENTITY_NOT_FOUND', { entity });
  if (error instanceof DuplicateError || error instanceof EntityInUseError) {
    const { field, message: reason } = error;
    return new RestError('CONFLICT', { ...(field !== undefined && { field }), reason });
  }
  return badParameter(error.field ?? 'body', error.message);
}
