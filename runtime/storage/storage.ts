import type { Kysely } from 'kysely';
import type { ChangeNotices } from './notices.ts';
import type { Schema } from './schema.ts';
import type { Statement } from './sql.ts';

/** The part of pino that storage uses. */
export interface StorageLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The columns of a row in PostgreSQL's text format. */
export type TextRow = readonly (string | null)[];

/** An open database with all migrations applied. */
export interface Storage {
  readonly kind: 'pglite' | 'postgres';
  readonly db: Kysely<Schema>;
  /**
   * Runs one statement that commits by itself, past kysely and in no transaction: for what is asked hundreds of times a
   * second. Several run at a time where the database can do that. Not to be waited for within a transaction: PGlite has
   * one connection.
   *
   * @returns the rows as PostgreSQL writes them
   * @throws StorageError
   */
  run(statement: Statement): Promise<readonly TextRow[]>;
  /** Folder, or host, port and database; for people, without secrets. */
  readonly location: string;
  readonly log: StorageLog;
  /** Between the nodes on one database. */
  readonly notices: ChangeNotices;
  /** Lets running queries finish, then writes everything out and gives the data directory back. */
  close(): Promise<void>;
}

export interface StorageOptions {
  /** Folder of the node's data; made if missing. PGlite lives in its sub-folder `pglite`. */
  readonly dataDir: string;
  /** `postgres://user:password@host:port/database`: a server instead of PGlite. */
  readonly databaseUrl?: string | undefined;
  /** Milliseconds that one query may run. Default 10,000. */
  readonly queryTimeoutMs?: number | undefined;
  /** Connections to a PostgreSQL server. Default 10. */
  readonly poolSize?: number | undefined;
  readonly log?: StorageLog | undefined;
  /** Where the template of a PGlite cluster without data is kept; `null`: none. Default: beside the installed packages. */
  readonly templateFolder?: string | null | undefined;
}
