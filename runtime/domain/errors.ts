/** Why an entity of the domain-center cannot be written. Each error names the entity and the field. */

/** Base: `instanceof EntityError` tells a refused write from a failure of the node. */
export class EntityError extends Error {
  override name = 'EntityError';
  /** Singular name of the collection, e.g. `sipuser`. */
  readonly entity: string;
  /** The field as the caller wrote it, nested ones with dots; undefined when no single field is to blame. */
  readonly field: string | undefined;

  constructor(message: string, entity: string, field: string | undefined, options?: ErrorOptions) {
    super(message, options);
    this.entity = entity;
    this.field = field;
  }
}

/** A field is missing, unknown, or has a value that it cannot have. */
export class InvalidFieldError extends EntityError {
  override name = 'InvalidFieldError';
  override readonly field: string;
  readonly reason: string;
  /** The refused value; undefined for secrets and missing fields. */
  readonly found: unknown;

  constructor(entity: string, field: string, reason: string, found?: unknown) {
    super(`${entity}.${field} ${reason}`, entity, field);
    this.field = field;
    this.reason = reason;
    this.found = found;
  }
}

/** Another entity has this value already. */
export class DuplicateError extends EntityError {
  override name = 'DuplicateError';

  constructor(entity: string, field: string, options?: ErrorOptions) {
    // Of several, the index of the entity stands before the field.
    super(`Another ${entity} has this ${field.replace(/^\d+\./, '')}. Choose another value.`, entity, field, options);
  }
}

/** Others refer to the entity, so it cannot be removed. */
export class EntityInUseError extends EntityError {
  override name = 'EntityInUseError';

  constructor(entity: string, id: string, usedBy: string, options?: ErrorOptions) {
    super(`${entity} ${id} is in use by ${usedBy}. Remove those first.`, entity, undefined, options);
  }
}

export class EntityNotFoundError extends EntityError {
  override name = 'EntityNotFoundError';

  constructor(entity: string, id: string) {
    super(`There is no ${entity} ${id}.`, entity, 'id');
  }
}
