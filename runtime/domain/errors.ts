/** Errors of writing domain-center entities. Each names the entity and the field. */

/** Base class of refused writes; other errors are failures of the node. */
export class EntityError extends Error {
  override name = 'EntityError';
  /** Singular name of the collection, e.g. `sipuser`. */
  readonly entity: string;
  /** The field as the caller wrote it, nested ones with dots; undefined when the error concerns no single field. */
  readonly field: string | undefined;

  constructor(message: string, entity: string, field: string | undefined, options?: ErrorOptions) {
    super(message, options);
    this.entity = entity;
    this.field = field;
  }
}

/** An unknown or missing field, or an invalid value. */
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

/** A unique value that another entity already has. */
export class DuplicateError extends EntityError {
  override name = 'DuplicateError';

  constructor(entity: string, field: string, options?: ErrorOptions) {
    // In a list of entities, the index precedes the field.
    super(`Another ${entity} has this ${field.replace(/^\d+\./, '')}. Choose another value.`, entity, field, options);
  }
}

/** An entity that cannot be removed because others refer to it. */
export class EntityInUseError extends EntityError {
  override name = 'EntityInUseError';

  constructor(entity: string, id: string, usedBy: string, options?: ErrorOptions) {
    super(`${entity} ${id} is in use by ${usedBy}. Remove those first.`, entity, undefined, options);
  }
}

/** A change of a module with which scripts that import it have mistakes. */
export class BrokenImporterError extends EntityError {
  override name = 'BrokenImporterError';
  override readonly field: string;
  /** The importers, with their mistakes. */
  readonly importers: readonly object[];

  /** @param reason of the first importer */
  constructor(entity: string, field: string, reason: string, importers: readonly object[]) {
    super(reason, entity, field);
    this.field = field;
    this.importers = importers;
  }
}

/** A change that was made from another version than the present one. */
export class OutdatedChangeError extends EntityError {
  override name = 'OutdatedChangeError';
  override readonly field: string;
  /** The version from which the change was made; null when it never existed. */
  readonly base: object | null;
  /** The present version. */
  readonly current: object;

  constructor(entity: string, field: string, base: object | null, current: object) {
    super(
      'somebody else has changed it meanwhile; put both changes together, and send the present version',
      entity,
      field,
    );
    this.field = field;
    this.base = base;
    this.current = current;
  }
}

export class EntityNotFoundError extends EntityError {
  override name = 'EntityNotFoundError';

  constructor(entity: string, id: string) {
    super(`${entity} ${id} does not exist.`, entity, 'id');
  }
}
