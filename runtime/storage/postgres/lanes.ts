/**
 * Runs statements outside of transactions over the clients of a pool. A client serves waiting statements one after
 * another: checking it out for each would cost as much as the statement.
 */
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { encode } from '../values.ts';
import type { Statement } from '../sql.ts';
import type { TextRow } from '../storage.ts';
import type { PreparedStatements } from './prepared.ts';
import { TextQuery } from './text-query.ts';

export interface LanesOptions {
  readonly pool: Pool;
  /** Largest number of clients in use. */
  readonly lanes: number;
  /** Milliseconds without an answer after which a connection is closed: the server or the network is down. */
  readonly silenceMs: number;
  /** Statements prepared on a client. */
  readonly preparedOf: (client: PoolClient) => PreparedStatements;
}

interface Waiting {
  /** Incremented with each statement. */
  readonly number: number;
  readonly text: string;
  readonly values: readonly (string | null)[];
  readonly resolve: (rows: readonly TextRow[]) => void;
  readonly reject: (error: Error) => void;
}

/** Statements after which a client returns to the pool although others wait, for the pool's other users. */
const IN_A_ROW = 100;

export class Lanes {
  readonly #options: LanesOptions;
  #waiting: Waiting[] = [];
  #next = 0;
  #lanes = 0;
  #asked = 0;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** @throws errors of pg */
  run({ text, values }: Statement): Promise<readonly TextRow[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ number: ++this.#asked, text, values: values.map(encode), resolve, reject });
      if (this.#lanes < this.#options.lanes) this.#open();
    });
  }

  /** Statements that wait for a client. */
  get waiting(): number {
    return this.#waiting.length - this.#next;
  }

  #open(): void {
    this.#lanes += 1;
    const asked = this.#asked;
    this.#options.pool.connect((error, client, release) => {
      if (error !== undefined || client === undefined) {
        this.#lanes -= 1;
        // No server, or no free client for a long time: rejects the oldest waiting statement; the others try
        // themselves.
        while ((this.#waiting[this.#next]?.number ?? Infinity) <= asked) {
          this.#take()?.reject(error ?? new Error('The PostgreSQL pool had no free client.'));
        }
        if (this.#waits && this.#lanes === 0) this.#open();
        return;
      }
      this.#serve(client, release);
    });
  }

  #serve(client: PoolClient, release: (destroy?: boolean) => void): void {
    const { pool, preparedOf, silenceMs } = this.#options;
    const prepared = preparedOf(client);
    let served = 0;
    let current: TextQuery | undefined;
    const giveUp = (): void => {
      const asked = current;
      // Reads data that arrived while the thread was busy first.
      setImmediate(() => asked?.handleError(new Error(`no answer for ${silenceMs} ms`)));
    };
    const silence = setTimeout(giveUp, silenceMs).unref();
    const close = (isBroken: boolean): void => {
      clearTimeout(silence);
      this.#lanes -= 1;
      release(isBroken || prepared.isFull);
      if (this.#waits) this.#open();
    };
    const serve = (): void => {
      const isOver = prepared.isFull || served >= IN_A_ROW || pool.waitingCount > 0;
      const next = isOver && served > 0 ? undefined : this.#take();
      if (next === undefined) {
        close(false);
        return;
      }
      served += 1;
      const { text, values, resolve, reject } = next;
      silence.refresh();
      const query = new TextQuery({ text, values, name: prepared.nameOf(text) }, (error, rows) => {
        if (error === null) resolve(rows);
        else reject(error);
        if (error === null || (error instanceof DatabaseError && error.severity !== 'FATAL')) serve();
        else close(true);
      });
      current = query;
      client.query(query);
    };
    serve();
  }

  get #waits(): boolean {
    return this.#next < this.#waiting.length;
  }

  #take(): Waiting | undefined {
    const first = this.#waiting[this.#next];
    if (first === undefined) return undefined;
    this.#next += 1;
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    }
    return first;
  }
}
