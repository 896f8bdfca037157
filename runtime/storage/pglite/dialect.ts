/** kysely dialect over the supervised PGlite worker. kysely gives the only connection to one user at a time. */
import {
  AbortedTransactionError,
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PGliteAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import { encode } from '../values.ts';
import type { EngineLife, PgliteEngine } from './engine.ts';

export function pgliteDialect(engine: PgliteEngine): Dialect {
  return {
    createAdapter: () => new PGliteAdapter(),
    createDriver: () => new PgliteDriver(engine),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/**
 * Connection from acquire to release, bound to one life of the engine: a transaction never continues in the next life.
 */
class PgliteConnection implements DatabaseConnection {
  readonly #engine: PgliteEngine;
  #life: EngineLife | undefined;
  /** Settles after the last query: a transaction may ask several at once, which run one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(engine: PgliteEngine) {
    this.#engine = engine;
  }

  get lost(): boolean {
    return this.#life === undefined || this.#life.end !== undefined;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows } = await this.#run(query);
    return rows as QueryResult<R>;
  }

  /** Runs a transaction statement and returns PostgreSQL's command tag. */
  async command(text: string): Promise<string | undefined> {
    return (await this.#run(CompiledQuery.raw(text))).command;
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  async #run(query: CompiledQuery): Promise<{ rows: QueryResult<unknown>; command: string | undefined }> {
    const parameters = query.parameters.map(encode);
    const running = this.#last.then(async () => {
      this.#life ??= await this.#engine.life();
      return await this.#engine.query(this.#life, query.sql, parameters);
    });
    this.#last = running.catch(() => undefined);
    const { affectedRows, rows, command } = await running;
    const numAffectedRows = affectedRows === undefined ? {} : { numAffectedRows: BigInt(affectedRows) };
    return { rows: { rows: [...rows], ...numAffectedRows }, command };
  }
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

class PgliteDriver implements Driver {
  readonly #engine: PgliteEngine;

  constructor(engine: PgliteEngine) {
    this.#engine = engine;
  }

  async init(): Promise<void> {
    // The engine starts with its first query.
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    // A stopped engine fails at the first query: an error here would keep kysely's connection lock.
    await this.#engine.acquire();
    return new PgliteConnection(this.#engine);
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const isolation = settings.isolationLevel === undefined ? '' : ` isolation level ${settings.isolationLevel}`;
    const access = settings.accessMode === undefined ? '' : ` ${settings.accessMode}`;
    await (connection as PgliteConnection).command(`start transaction${isolation}${access}`);
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    // PostgreSQL answers COMMIT with ROLLBACK after a failed statement in the transaction.
    const command = await (connection as PgliteConnection).command('commit');
    if (command === 'ROLLBACK') throw new AbortedTransactionError();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    const { lost } = connection as PgliteConnection;
    if (!lost) await (connection as PgliteConnection).command('rollback');
  }

  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await (connection as PgliteConnection).command(`savepoint ${identifier(name)}`);
  }

  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await (connection as PgliteConnection).command(`rollback to ${identifier(name)}`);
  }

  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await (connection as PgliteConnection).command(`release ${identifier(name)}`);
  }

  async releaseConnection(): Promise<void> {
    this.#engine.release();
  }

  async destroy(): Promise<void> {
    await this.#engine.close();
  }
}
