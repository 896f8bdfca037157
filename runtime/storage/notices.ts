/**
 * Change notices: a node's writes are announced to the other nodes on the same database. A cache of rows uses them like
 * this:
 *
 * ```ts
 * // while opening, before the first read, so that no change is missed
 * const stop = storage.notices.subscribe('directory', {
 *   notice: async (payload) => reload(payload),
 *   gap: async () => reloadAll(),
 * });
 * // with each change, in its transaction
 * await storage.notices.publish('directory', { collection: 'users', id }, tx);
 * ```
 *
 * A notice says *what* changed; its receiver reads the rows. PGlite has one node, and nothing is sent.
 */
import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** A JSON value. */
export type NoticePayload =
  | string
  | number
  | boolean
  | null
  | readonly NoticePayload[]
  | { readonly [key: string]: NoticePayload };

export interface NoticeListener {
  /**
   * Handles a notice of another node. Calls are awaited one at a time, in commit order. An exception is logged, and
   * `gap` is called.
   */
  notice(payload: NoticePayload): void | Promise<void>;
  /** The connection was lost and notices may be missing: reload everything. */
  gap(): void | Promise<void>;
  /**
   * A marked notice of this node has arrived, in order with those of all nodes.
   *
   * @returns false when nobody waits for it any more: it is handled like a notice of another node
   */
  own?(mark: number): boolean;
}

export interface ChangeNotices {
  /**
   * Notifies the other nodes. This node receives only its marked notices.
   *
   * @param topic receivers, e.g. `directory`
   * @param payload of any size; small ones (below 7 KB) travel faster
   * @param db the transaction of the change: the notice is sent when it commits
   * @param mark for `own` of this node's listeners
   */
  publish(topic: string, payload: NoticePayload, db?: Kysely<Schema>, mark?: number): Promise<void>;
  /** Returns the function that unsubscribes. */
  subscribe(topic: string, listener: NoticeListener): () => void;
  /**
   * True when no other node used the database when this node opened it: state of the former nodes can then be deleted.
   */
  readonly wasAlone: boolean;
  /** True when other nodes use the database now, or did seconds ago. */
  readonly hasOthers: boolean;
}

/** For a database with a single node. */
export const NO_NOTICES: ChangeNotices = {
  publish: async () => {},
  subscribe: () => () => undefined,
  wasAlone: true,
  hasOthers: false,
};
