/** A PostgreSQL server: connection pool, time limit, and the values and errors of PGlite. */
import { type Dialect, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import { DatabaseError, Pool, type PoolClient, types } from 'pg';
import { SQLSTATE, SqlError, StorageTimeoutError, StorageUnavailableError } from '../errors.ts';
import type { Statement } from '../sql.ts';
import type { ConnectionPool, StorageLog, TextRow } from '../storage.ts';
import { decoders, encode } from '../values.ts';
import { Lanes } from './lanes.ts';
import { PreparedStatements } from './prepared.ts';

export interface PoolOptions {
  readonly databaseUrl: string;
  /** Time limit of a query in milliseconds, enforced by the server (`statement_timeout`). */
  readonly queryTimeoutMs: number;
  readonly poolSize: number;
  readonly log: StorageLog;
}

const CONNECT_LIMIT_MS = 10_000;

/** Milliseconds beyond that limit after which the server counts as dead. */
function silenceLimit({ queryTimeoutMs }: PoolOptions): number {
  return queryTimeoutMs + 3_000;
}

/** Host, port and database of a URL, without user and password. */
export function describeUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  return `${url.hostname || 'local socket'}${url.port === '' ? '' : `:${url.port}`}${url.pathname}`;
}

/**
 * Class 08, connection exception; class 28, refused login; 3D000, no such database; 53300, too many connections; 57P01 to 57P03: the
 * server stops, crashed or starts.
 */
const UNAVAILABLE = /^(?:08...|28...|3D000|53300|57P0[123])$/;

function translate(error: unknown, options: PoolOptions): Error {
  if (error instanceof DatabaseError && !UNAVAILABLE.test(error.code ?? '')) {
    return error.code === SQLSTATE.queryCanceled
      ? new StorageTimeoutError(options.queryTimeoutMs, { cause: error })
      : new SqlError(error, { cause: error });
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new StorageUnavailableError(
    `PostgreSQL at ${describeUrl(options.databaseUrl)} cannot be reached: ${reason}. Check DATABASE_URL and the server.`,
    { cause: error },
  );
}

/** Statements prepared on each connection, across its users. */
function preparations(): (client: PoolClient) => PreparedStatements {
  const known = new WeakMap<PoolClient, PreparedStatements>();
  return (client) => {
    const prepared = known.get(client) ?? new PreparedStatements();
    known.set(client, prepared);
    return prepared;
  };
}

/** kysely uses one connection object per client, so each client has one wrapper. */
function wrapPool(
  pool: Pool,
  options: PoolOptions,
  preparedOf: (client: PoolClient) => PreparedStatements,
): PostgresPool {
  const wrappers = new WeakMap<PoolClient, PostgresPoolClient>();
  const query_timeout = silenceLimit(options);
  const wrap = (client: PoolClient): PostgresPoolClient => {
    const prepared = preparedOf(client);
    let isBroken = false;
    const query = async (text: string, parameters: readonly unknown[]): Promise<unknown> => {
      if (isBroken) throw translate(new Error('the connection was closed after an error'), options);
      const name = prepared.nameOf(text);
      // pg accepts a limit per query, which its types lack.
      const config = { text, values: parameters.map(encode), ...(name !== undefined && { name }), query_timeout };
      try {
        return await client.query(config);
      } catch (error) {
        isBroken = !(error instanceof DatabaseError);
        throw translate(error, options);
      }
    };
    return {
      query: query as PostgresPoolClient['query'],
      release: (destroy) => client.release(prepared.isFull || isBroken ? true : destroy),
    };
  };
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      let client: PoolClient;
      try {
        client = await pool.connect();
      } catch (error) {
        throw translate(error, options);
      }
      const wrapper = wrappers.get(client) ?? wrap(client);
      wrappers.set(client, wrapper);
      return wrapper;
    },
  };
}

/** Both accesses to a server: through kysely, and for single statements. */
export interface ServerAccess {
  readonly dialect: Dialect;
  readonly run: (statement: Statement) => Promise<readonly TextRow[]>;
  /** Connections now. */
  readonly pool: () => ConnectionPool;
  /** Called after kysely's end, which closes the pool only if kysely has used it. */
  readonly close: () => Promise<void>;
}

export function openPool(options: PoolOptions): ServerAccess {
  const pool = new Pool({
    connectionString: options.databaseUrl,
    max: options.poolSize,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    statement_timeout: options.queryTimeoutMs,
    keepAlive: true,
    application_name: 'ringmaster',
    types: { getTypeParser: (oid, format) => decoders[oid] ?? types.getTypeParser(oid, format) },
  });
  // The running query reports the error, but without a listener the event would end the process.
  pool.on('connect', (client) => {
    client.on('error', (error) => options.log.debug({ err: error }, 'a PostgreSQL connection was lost'));
  });
  pool.on('error', (error) => options.log.warn({ err: error }, 'an idle PostgreSQL connection was lost'));
  const preparedOf = preparations();
  const lanes = new Lanes({ pool, lanes: options.poolSize, silenceMs: silenceLimit(options), preparedOf });
  return {
    dialect: new PostgresDialect({ pool: wrapPool(pool, options, preparedOf) }),
    pool: () => ({
      open: pool.totalCount,
      busy: pool.totalCount - pool.idleCount,
      // A lane that waits for a client has statements of its own.
      waiting: Math.max(pool.waitingCount, lanes.waiting),
      limit: options.poolSize,
    }),
    close: async () => {
      if (!pool.ending) await pool.end();
    },
    run: async (statement) => {
      try {
        return await lanes.run(statement);
      } catch (error) {
        throw translate(error, options);
      }
    },
  };
}
