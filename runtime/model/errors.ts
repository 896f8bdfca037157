/**
 * Why something cannot be done with the dynamic model. Each kind is one answer of the REST service (specification
 * "Errors", decisions "HTTP and errors"); the bridge maps by class, never by text.
 */

/** Base: `instanceof ModelError` tells a refusal from a failure of the node. */
export class ModelError extends Error {
  override name = 'ModelError';
  /** What is at fault: a parameter, a property or a nested key with dots. Empty when nothing single is. */
  readonly field: string;
  /** Completes the sentence that begins with the field. */
  readonly reason: string;

  constructor(message: string, field: string, reason: string, options?: ErrorOptions) {
    super(message, options);
    this.field = field;
    this.reason = reason;
  }
}

/** 400/1400: a parameter that cannot be understood. */
export class BadParameterError extends ModelError {
  override name = 'BadParameterError';
  /** Where in a nested parameter, e.g. `filter[2][1]`; undefined when the parameter as a whole is meant. */
  readonly path: string | undefined;

  constructor(field: string, reason: string, path?: string, options?: ErrorOptions) {
    super(`${path ?? field} ${reason}`, field, reason, options);
    this.path = path;
  }
}

/** 400/1400: a field that there is not, that is missing, or that holds what it never may, whatever is there already. */
export class InvalidFieldError extends ModelError {
  override name = 'InvalidFieldError';
  /** The refused value; undefined for what is missing. */
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
    super(`${entity} ${id} not found`, 'id', 'names nothing that exists');
    this.entity = entity;
  }
}

/** 409/1402: the id, or the value of a unique property, is taken. */
export class ConflictError extends ModelError {
  override name = 'ConflictError';

  constructor(field: string, options?: ErrorOptions) {
    super(
      // Of several, the index of the entity stands before the field.
      `Another entity has this ${field.replace(/^\d+\./, '')}. Choose another value.`,
      field,
      'has a value that another entity has',
      options,
    );
  }
}

/** Runs what makes one of several entities; what it refuses names the field with the index before it. */
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

/** 503/1503: the class changes faster than a request can follow. */
export class ClassChangingError extends ModelError {
  override name = 'ClassChangingError';

  constructor(options?: ErrorOptions) {
    super('The class is being changed. Try again.', 'class', 'is being changed; try again', options);
  }
}

/** A write by a definition of the class that is no longer so; never leaves the room. */
export class StaleClassError extends Error {
  override name = 'StaleClassError';
}

/** 422/1405: right in itself, but what is there does not let it be: the data, the kind of class, a digest. */
export class CannotApplyError extends ModelError {
  override name = 'CannotApplyError';
  /** The refused value; undefined for what is missing. */
  readonly found: unknown;

  constructor(field: string, reason: string, found?: unknown, options?: ErrorOptions) {
    super(`${field} ${reason}`, field, reason, options);
    this.found = found;
  }
}
