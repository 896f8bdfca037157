/** Errors of the storage. Each says what was found and what to do. */

/** Base class of storage errors; other errors are programming mistakes. */
export class StorageError extends Error {
  override name = 'StorageError';
}

/** The data directory belongs to a live process. */
export class StorageLockedError extends StorageError {
  override name = 'StorageLockedError';
  readonly folder: string;
  readonly pid: number;

  constructor(folder: string, pid: number) {
    super(
      `The data directory ${folder} is in use by process ${pid}. ` +
        'Stop that process, or choose another directory with RINGMASTER_DATA_DIR.',
    );
    this.folder = folder;
    this.pid = pid;
  }
}

/** A query exceeded its time limit, or was in a transaction that such a query ended. Its effects are undone. */
export class StorageTimeoutError extends StorageError {
  override name = 'StorageTimeoutError';
  /** Milliseconds. */
  readonly limitMs: number;

  constructor(limitMs: number, options?: ErrorOptions) {
    super(`A query exceeded the limit of ${limitMs} ms and was stopped. Narrow the query, or add an index.`, options);
    this.limitMs = limitMs;
  }
}

/** The database cannot be opened or reached. */
export class StorageUnavailableError extends StorageError {
  override name = 'StorageUnavailableError';
}

/** A query after `close()`. */
export class StorageClosedError extends StorageError {
  override name = 'StorageClosedError';

  constructor() {
    super('The storage is closed.');
  }
}

/** A failed migration; it was rolled back. */
export class StorageMigrationError extends StorageError {
  override name = 'StorageMigrationError';
  readonly migration: string;

  constructor(migration: string, options: ErrorOptions) {
    const reason = options.cause instanceof Error ? options.cause.message : String(options.cause);
    super(`Migration ${migration} failed: ${reason}`, options);
    this.migration = migration;
  }
}

/** PostgreSQL's description of a refused statement (Appendix A, "PostgreSQL Error Codes"). */
export interface SqlErrorFields {
  readonly message: string;
  /** SQLSTATE, e.g. `23505` unique violation. */
  readonly code?: string | undefined;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
  readonly position?: string | undefined;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
  readonly constraint?: string | undefined;
}

/** A statement refused by PostgreSQL; the same for both kinds of storage. */
export class SqlError extends StorageError {
  override name = 'SqlError';
  readonly code: string;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly position: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;
  readonly constraint: string | undefined;

  constructor(fields: SqlErrorFields, options?: ErrorOptions) {
    super(fields.message, options);
    this.code = fields.code ?? 'XX000';
    this.detail = fields.detail;
    this.hint = fields.hint;
    this.position = fields.position;
    this.table = fields.table;
    this.column = fields.column;
    this.constraint = fields.constraint;
  }
}

/** SQLSTATE values that other rooms handle. */
export const SQLSTATE = {
  uniqueViolation: '23505',
  foreignKeyViolation: '23503',
  queryCanceled: '57014',
  undefinedTable: '42P01',
  deadlockDetected: '40P01',
} as const satisfies Record<string, string>;
