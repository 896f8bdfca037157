/** The storage's interface and options. */
import type { Kysely } from 'kysely';
import type { ChangeNotices } from './notices.ts';
import type { Schema } from './schema.ts';
import type { Statement } from './sql.ts';

/** Default time limit of a query in milliseconds. */
export const QUERY_TIMEOUT_MS = 10_000;
/** A migration may rewrite a large table, and a checkpoint may be large; only start and stop wait for them. */
export const MAINTENANCE_TIMEOUT_MS = 3_600_000;

/** The part of pino that storage uses. */
export interface StorageLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silent: StorageLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** The columns of a row in PostgreSQL's text format. */
export type TextRow = readonly (string | null)[];

/** Connections to the database. */
export type ConnectionPool = {
  readonly open: number;
  readonly busy: number;
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number;
  /** Largest number of open ones. */
  readonly limit: number;
};

/** An open database with all migrations applied. */
export interface Storage {
  readonly kind: 'pglite' | 'postgres';
  readonly db: Kysely<Schema>;
  /**
   * Runs one statement outside of transactions and without kysely, for queries asked hundreds of times a second.
   * Several run at once where the database can do that. Do not await it within a transaction: PGlite has one
   * connection.
   *
   * @returns the rows in PostgreSQL's text format
   * @throws StorageError
   */
  run(statement: Statement): Promise<readonly TextRow[]>;
  /** Folder, or host, port and database; for people, without secrets. */
  readonly location: string;
  readonly log: StorageLog;
  /** Its connections now. */
  pool(): ConnectionPool;
  /** Change notices between the nodes of a database. */
  readonly notices: ChangeNotices;
  /** Finishes running queries, flushes all writes and releases the data directory. */
  close(): Promise<void>;
}

export interface StorageOptions {
  /** Folder of the node's data, created if missing. PGlite uses its sub-folder `pglite`. */
  readonly dataDir: string;
  /** `postgres://user:password@host:port/database`: a server instead of PGlite. */
  readonly databaseUrl?: string | undefined;
  /** Time limit of a query in milliseconds. Default 10,000. */
  readonly queryTimeoutMs?: number | undefined;
  /** Connections to a PostgreSQL server. Default 10. */
  readonly poolSize?: number | undefined;
  readonly log?: StorageLog | undefined;
  /** Archive of the template of an empty PGlite cluster; `null`: none. Default: beside the installed packages. */
  readonly template?: string | null | undefined;
}
