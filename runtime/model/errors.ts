/**
 * Errors of the dynamic model. Each kind is one REST error (specification "Errors", decisions "HTTP and errors"); the
 * bridge maps by class, never by text.
 */

/** Base class of refusals; other errors are failures of the node. */
export class ModelError extends Error {
  override name = 'ModelError';
  /** Parameter, property, or nested key with dots. Empty when the error concerns no single one. */
  readonly field: string;
  /** Predicate of the message; the field is its subject. */
  readonly reason: string;

  constructor(message: string, field: string, reason: string, options?: ErrorOptions) {
    super(message, options);
    this.field = field;
    this.reason = reason;
  }
}

/** 400/1400: an invalid parameter. */
export class BadParameterError extends ModelError {
  override name = 'BadParameterError';
  /** Position in a nested parameter, e.g. `filter[2][1]`; undefined for the whole parameter. */
  readonly path: string | undefined;

  constructor(field: string, reason: string, path?: string, options?: ErrorOptions) {
    super(`${path ?? field} ${reason}`, field, reason, options);
    this.path = path;
  }
}

/** 400/1400: an unknown or missing field, or an invalid value. */
export class InvalidFieldError extends ModelError {
  override name = 'InvalidFieldError';
  /** The refused value; undefined for a missing field. */
  readonly found: unknown;

  constructor(field: string, reason: string, found?: unknown, options?: ErrorOptions) {
    super(`${field} ${reason}`, field, reason, options);
    this.found = found;
  }
}

/** 404/1404: no such class, entity, partition or snapshot. */
export class NotFoundError extends ModelError {
  override name = 'NotFoundError';
  /** `Class`, `Entity`, `Partition` or `Snapshot`. */
  readonly entity: string;

  constructor(entity: string, id: string) {
    super(`${entity} ${id} not found`, 'id', 'names an unknown entity');
    this.entity = entity;
  }
}

/** 409/1402: the id, or the value of a unique property, is taken. */
export class ConflictError extends ModelError {
  override name = 'ConflictError';

  constructor(field: string, options?: ErrorOptions) {
    super(
      // In a list of entities, the index precedes the field.
      `Another entity has this ${field.replace(/^\d+\./, '')}. Choose another value.`,
      field,
      'has a value that another entity has',
      options,
    );
  }
}

/** Runs `make` for one entity of a list; its errors name the field with the index before it. */
export async function ofSeveral<T>(index: number, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const options = { cause: error };
    for (const Kind of [InvalidFieldError, CannotApplyError]) {
      if (error instanceof Kind) throw new Kind(`${index}.${error.field}`, error.reason, error.found, options);
    }
    throw error instanceof ConflictError ? new ConflictError(`${index}.${error.field}`, options) : error;
  }
}

/** 503/1503: the class kept changing while the request was repeated. */
export class ClassChangingError extends ModelError {
  override name = 'ClassChangingError';

  constructor(options?: ErrorOptions) {
    super('The class is being changed. Try again.', 'class', 'is being changed; try again', options);
  }
}

/** A write with an outdated class definition; never leaves the room. */
export class StaleClassError extends Error {
  override name = 'StaleClassError';
}

/** 422/1405: valid input that conflicts with the present state: the data, the storage mode, a digest. */
export class CannotApplyError extends ModelError {
  override name = 'CannotApplyError';
  /** The refused value; undefined for a missing field. */
  readonly found: unknown;

  constructor(field: string, reason: string, found?: unknown, options?: ErrorOptions) {
    super(`${field} ${reason}`, field, reason, options);
    this.found = found;
  }
}
