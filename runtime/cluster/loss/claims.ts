/** Which node takes care of which dead process, in the database: a node that comes back days later finds it there. */
import { sql } from 'kysely';
import type { Storage } from '../../storage/index.ts';

/** Milliseconds for which nobody else takes care of a dead process: longer than a machine is away. */
const KEPT_MS = 30 * 86_400_000;
const PREFIX = 'lost ';

/** All methods throw errors of storage. */
export class Claims {
  readonly #storage: Storage;
  readonly #self: string;

  /** @param self id of this process */
  constructor(storage: Storage, self: string) {
    this.#storage = storage;
    this.#self = self;
  }

  /** True for the first node that asks. */
  async claim(id: string): Promise<boolean> {
    const now = Date.now();
    const { rows } = await sql`
      with expired as (delete from cluster_starts where expires <= ${now})
      insert into cluster_starts (name, expires, owner) values (${PREFIX + id}, ${now + KEPT_MS}, ${this.#self})
      on conflict (name) do nothing
      returning name`.execute(this.#storage.db);
    return rows.length > 0;
  }

  /** The process that takes care of this one; undefined when it is done, or nobody has claimed it. */
  async holder(id: string): Promise<string | undefined> {
    const { rows } = await sql<{ owner: string | null }>`
      select owner from cluster_starts where name = ${PREFIX + id}`.execute(this.#storage.db);
    return rows[0]?.owner ?? undefined;
  }

  /** This node goes on with what a dead one was at. @returns ids of the processes that are left to it */
  async inherit(from: string): Promise<readonly string[]> {
    const { rows } = await sql<{ name: string }>`
      update cluster_starts set owner = ${this.#self}
      where owner = ${from} and name like ${`${PREFIX}%`}
      returning name`.execute(this.#storage.db);
    return rows.map(({ name }) => name.slice(PREFIX.length));
  }

  /** The process is taken care of. */
  async done(id: string): Promise<true> {
    await sql`
      update cluster_starts set owner = null where name = ${PREFIX + id} and owner = ${this.#self}`.execute(
      this.#storage.db,
    );
    return true;
  }

  /** Lets others claim it again. */
  async release(id: string): Promise<true> {
    await sql`delete from cluster_starts where name = ${PREFIX + id}`.execute(this.#storage.db);
    return true;
  }
}
