/** The stored subscriptions of phones. */
import { sql } from 'kysely';
import type { Storage } from '../storage/index.ts';
import { WriteBehind } from './location/write-behind.ts';

/** A stored subscription. */
export interface StoredSubscription {
  readonly id: string;
  readonly sipUserId: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** JSON. */
  readonly data: object;
}

/** Stores the subscriptions of one node for its next start, and tries again while the database is away. */
export class StoredSubscriptions {
  readonly #storage: Storage;
  readonly #node: string;
  readonly #earlier: readonly string[];
  /** Changes that are not written yet; undefined: removed. */
  readonly #changed = new Map<string, StoredSubscription | undefined>();
  readonly #writes: WriteBehind<string>;

  /**
   * @param node who sends the NOTIFYs: name of the node, the same after a restart; in a cluster the id of the process
   * @param earlier other names of this node: those of earlier processes
   */
  constructor(storage: Storage, node: string, earlier: readonly string[] = []) {
    this.#storage = storage;
    this.#node = node;
    this.#earlier = earlier;
    this.#writes = new WriteBehind<string>({
      write: (ids) => this.#write(ids),
      onError: (err, ids) => storage.log.error({ err, ids }, 'subscriptions not stored, trying again'),
    });
  }

  /** Those that have not expired. Removes the others, also of other nodes. */
  load(): Promise<readonly StoredSubscription[]> {
    return this.take([this.#node, ...this.#earlier]);
  }

  /** Makes those of these nodes this node's own: of several nodes that try, one gets them. */
  async take(nodes: readonly string[]): Promise<readonly StoredSubscription[]> {
    const { db } = this.#storage;
    await db.deleteFrom('subscriptions').where('expires', '<=', Date.now()).execute();
    const rows = await db
      .updateTable('subscriptions')
      .set({ node: this.#node })
      .where('node', 'in', nodes)
      .returningAll()
      .execute();
    return rows.map(({ id, sipuser_id: sipUserId, expires, data }) => ({ id, sipUserId, expires, data }));
  }

  /** Gives these back to a node that was not dead. */
  async give(ids: readonly string[], node: string): Promise<void> {
    if (ids.length === 0) return;
    const { db } = this.#storage;
    await db.updateTable('subscriptions').set({ node }).where('node', '=', this.#node).where('id', 'in', ids).execute();
  }

  save(subscription: StoredSubscription): void {
    this.#mark(subscription.id, subscription);
  }

  remove(id: string): void {
    this.#mark(id, undefined);
  }

  /** Writes pending changes; the storage must still be open. */
  close(): Promise<void> {
    return this.#writes.close();
  }

  #mark(id: string, subscription: StoredSubscription | undefined): void {
    this.#changed.set(id, subscription);
    void this.#writes.mark([[id, id]]);
  }

  async #write(ids: readonly string[]): Promise<void> {
    const changes = ids.map((id) => [id, this.#changed.get(id)] as const);
    const gone = changes.flatMap(([id, row]) => (row === undefined ? [id] : []));
    const kept = changes.flatMap(([, row]) => (row === undefined ? [] : [row]));
    const { db } = this.#storage;
    if (gone.length > 0) await db.deleteFrom('subscriptions').where('id', 'in', gone).execute();
    // The sipuser may have been removed meanwhile.
    if (kept.length > 0)
      await sql`
        insert into subscriptions (id, sipuser_id, node, expires, data)
        select s.id, s."sipUserId", ${this.#node}, s.expires, s.data
        from jsonb_to_recordset(${JSON.stringify(kept)}::jsonb)
          as s(id text, "sipUserId" text, expires bigint, data jsonb)
        where exists (select 1 from sipusers where sipusers.id = s."sipUserId")
        on conflict (id) do update set node = excluded.node, expires = excluded.expires, data = excluded.data`.execute(
        db,
      );
    for (const [id, row] of changes) if (this.#changed.get(id) === row) this.#changed.delete(id);
  }
}
