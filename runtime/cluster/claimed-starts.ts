/** Starts by schedule, each made by one node of the cluster. */
import { sql } from 'kysely';
import type { Storage } from '../storage/index.ts';

/** Milliseconds for which a start is remembered: longer than clocks differ. */
const KEPT_MS = 3_600_000;

/** Claims starts in the database, so that a restart of NATS makes none of them twice. */
export class ClaimedStarts {
  readonly #storage: Storage;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(storage: Storage, now: () => number = Date.now) {
    this.#storage = storage;
    this.#now = now;
  }

  /**
   * True for the first node that asks.
   * @param name of the start with its time
   * @throws StorageUnavailableError: nobody knows whether another node was first, so nobody starts
   */
  async claim(name: string): Promise<boolean> {
    const { db } = this.#storage;
    const now = this.#now();
    const { rows } = await sql`
      with expired as (delete from cluster_starts where expires <= ${now})
      insert into cluster_starts (name, expires) values (${name}, ${now + KEPT_MS})
      on conflict (name) do nothing
      returning name`.execute(db);
    return rows.length > 0;
  }
}
