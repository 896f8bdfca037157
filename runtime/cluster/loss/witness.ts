/** Nodes that live without NATS, as the database knows them. */
import { sql } from 'kysely';
import type { Storage } from '../../storage/index.ts';

/** Milliseconds for which a sign of life counts. */
const ALIVE_MS = 3000;

/**
 * A node that has lost NATS, but not the database, is no dead node: it says so here, as long as it is cut off. All times are those of
 * the database.
 */
export class Witness {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** @param id of this process @throws errors of storage */
  async tell(id: string): Promise<void> {
    await sql`
      insert into cluster_starts (name, expires)
      values (${nameOf(id)}, extract(epoch from clock_timestamp()) * 1000 + ${ALIVE_MS}::int)
      on conflict (name) do update set expires = excluded.expires`.execute(this.#storage.db);
  }

  /** @throws errors of storage */
  async isAlive(id: string): Promise<boolean> {
    const { rows } = await sql`
      select 1 from cluster_starts
      where name = ${nameOf(id)} and expires > extract(epoch from clock_timestamp()) * 1000`.execute(this.#storage.db);
    return rows.length > 0;
  }
}

function nameOf(id: string): string {
  return `alive ${id}`;
}
