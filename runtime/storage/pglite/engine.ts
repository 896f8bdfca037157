/**
 * Supervises the PGlite worker: one query at a time, each with a time limit. PGlite has no statement_timeout and cannot
 * be interrupted, so a query over the limit ends with its thread; PostgreSQL's recovery then rolls it back.
 */
import { Worker } from 'node:worker_threads';
import { SqlError, StorageClosedError, StorageTimeoutError, StorageUnavailableError } from '../errors.ts';
import type { Statement } from '../sql.ts';
import type { ConnectionPool, StorageLog, TextRow } from '../storage.ts';
import { Progress } from './progress.ts';
import type { EngineReply, EngineRequest, EngineResult, EngineWorkerData, Unpacking } from './protocol.ts';
import { Runs, type RunsLife } from './runs.ts';

export interface EngineOptions {
  readonly directory: string;
  /** Unpacked by the first life if the cluster is missing. */
  readonly template?: Unpacking | undefined;
  /** Time limit of a query in milliseconds. */
  readonly queryTimeoutMs: number;
  readonly log: StorageLog;
}

/** One run of the worker. A transaction belongs to the life that it began in and is lost with it. */
export interface EngineLife {
  readonly number: number;
  /** Reason of its end; undefined while it runs. */
  readonly end: Error | undefined;
}

interface Life extends RunsLife {
  readonly number: number;
  readonly worker: Worker;
  end: Error | undefined;
  inFlight: { resolve(result: EngineResult): void; reject(error: Error): void; timer: NodeJS.Timeout } | undefined;
}

/** Milliseconds for recovery at the start; replaying a large log takes seconds. */
const OPEN_LIMIT_MS = 120_000;
const CLOSE_LIMIT_MS = 10_000;

export class PgliteEngine {
  readonly #options: EngineOptions;
  #current: Promise<Life> | undefined;
  #lives = 0;
  #closing: Promise<void> | undefined;
  readonly #runs: Runs;

  /** Time limit of a query in milliseconds. */
  queryTimeoutMs: number;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.queryTimeoutMs = options.queryTimeoutMs;
    this.#runs = new Runs({
      life: async () => {
        const life = await this.#open();
        if (life.end !== undefined) throw life.end;
        return life;
      },
      limitMs: () => this.queryTimeoutMs,
      onOverrun: (life) => this.#stop(life as Life, new StorageTimeoutError(this.queryTimeoutMs)),
    });
  }

  /** Number of restarts of the worker. */
  get restarts(): number {
    return Math.max(0, this.#lives - 1);
  }

  /**
   * The running life; starts the worker if necessary.
   *
   * @throws StorageUnavailableError when PostgreSQL does not open the folder
   */
  async life(): Promise<EngineLife> {
    if (this.#closing !== undefined) throw new StorageClosedError();
    return await this.#open();
  }

  async #open(): Promise<Life> {
    this.#current ??= this.#start();
    return await this.#current;
  }

  /**
   * Runs a single statement outside of a transaction, after earlier ones.
   *
   * @throws SqlError when PostgreSQL refuses it
   * @throws StorageTimeoutError when it exceeds the limit
   */
  async run(statement: Statement): Promise<readonly TextRow[]> {
    if (this.#closing !== undefined) throw new StorageClosedError();
    return await this.#runs.run(statement);
  }

  /** Waits for the running single statements and holds back new ones until `release`. For callers of `query`. */
  async acquire(): Promise<void> {
    await this.#runs.pause();
  }

  release(): void {
    this.#runs.resume();
  }

  /**
   * Runs one statement in `life`. The caller sends the next one only after this has settled.
   *
   * @throws SqlError when PostgreSQL refuses it
   * @throws StorageTimeoutError when it, or an earlier one of the same life, exceeded the limit
   */
  async query(life: EngineLife, sql: string, parameters: readonly (string | null)[]): Promise<EngineResult> {
    const live = life as Life;
    if (live.end !== undefined) throw live.end;
    if (live.inFlight !== undefined) throw new Error('PGlite was sent a query while another was running.');
    const { queryTimeoutMs } = this;
    const { promise, resolve, reject } = Promise.withResolvers<EngineResult>();
    const timer = setTimeout(() => this.#stop(live, new StorageTimeoutError(queryTimeoutMs)), queryTimeoutMs);
    live.inFlight = { resolve, reject, timer };
    const request: EngineRequest = { type: 'query', sql, parameters };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
    live.worker.postMessage(request);
    return await promise;
  }

  /** The only connection. */
  pool(): ConnectionPool {
    const { users, waiting } = this.#runs;
    return { open: 1, busy: Math.min(1, users), waiting: waiting + Math.max(0, users - 1), limit: 1 };
  }

  /** Shuts PostgreSQL down. The caller has awaited the last query. */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    await this.#runs.drained();
    const life = await this.#current?.catch(() => undefined);
    if (life === undefined || life.end !== undefined) return;
    life.end = new StorageClosedError();
    const { promise, resolve } = Promise.withResolvers<void>();
    // A worker that does not answer is terminated: the next start recovers from its log.
    const timer = setTimeout(resolve, CLOSE_LIMIT_MS);
    life.worker.once('exit', () => resolve());
    const request: EngineRequest = { type: 'close' };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
    life.worker.postMessage(request);
    await promise;
    clearTimeout(timer);
    await life.worker.terminate();
  }

  async #start(): Promise<Life> {
    const progress = new Progress();
    const { directory } = this.#options;
    const template = this.#lives === 0 ? this.#options.template : undefined;
    const data: EngineWorkerData = { directory, template, progress: progress.memory };
    const worker = new Worker(new URL('./engine-worker.ts', import.meta.url), { workerData: data });
    const post = (bytes: Uint8Array<ArrayBuffer>, ends: readonly number[]): void => {
      const request: EngineRequest = { type: 'run', bytes, ends };
      worker.postMessage(request, [bytes.buffer]);
    };
    const life: Life = { number: ++this.#lives, worker, end: undefined, inFlight: undefined, progress, post };
    const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
    const unavailable = (reason: string): StorageUnavailableError =>
      new StorageUnavailableError(`The database in ${this.#options.directory} is not open: ${reason}`);
    const timer = setTimeout(() => reject(unavailable(`no answer in ${OPEN_LIMIT_MS} ms`)), OPEN_LIMIT_MS);
    worker.on('message', (reply: EngineReply) => {
      if (reply.type === 'ready') resolve();
      else if (reply.type === 'unopened') reject(unavailable(reply.message));
      else if (reply.type === 'ran') this.#runs.answered(life, reply.replies);
      else if (reply.type !== 'closed') this.#settle(life, reply);
    });
    worker.on('error', (error) => reject(unavailable(error.message)));
    worker.on('exit', () => reject(unavailable('the engine ended')));
    try {
      await opened;
      worker.on('error', (error) => this.#stop(life, unavailable(error.message)));
      worker.on('exit', () => this.#stop(life, unavailable('the engine ended')));
      return life;
    } catch (error) {
      life.end = error as Error;
      this.#current = undefined;
      await worker.terminate();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #settle(life: Life, reply: Extract<EngineReply, { type: 'result' | 'refused' }>): void {
    const query = life.inFlight;
    if (query === undefined) return;
    life.inFlight = undefined;
    clearTimeout(query.timer);
    if (reply.type === 'result') query.resolve(reply.result);
    else query.reject(new SqlError(reply.error));
  }

  /** Ends a life. The next query starts another after this thread has ended: two in one folder would destroy it. */
  #stop(life: Life, reason: Error): void {
    if (life.end !== undefined) return;
    life.end = reason;
    const query = life.inFlight;
    life.inFlight = undefined;
    clearTimeout(query?.timer);
    this.#options.log.error({ err: reason, life: life.number }, 'database engine stopped');
    const gone = life.worker.terminate().then(() => this.#runs.ended(life, reason));
    if (this.#closing === undefined) {
      this.#current = gone.then(() => this.#start());
      this.#current.catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'database engine does not start; the next query tries again');
      });
    }
    query?.reject(reason);
  }
}
