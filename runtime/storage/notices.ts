/**
 * Change notices: what a node writes, the other nodes on the same database get to know. Whoever keeps a copy of rows in
 * memory uses them like this:
 *
 * ```ts
 * // while opening, before the first reading: nothing falls between the two
 * const stop = storage.notices.subscribe('directory', {
 *   notice: async (payload) => reload(payload),
 *   gap: async () => reloadAll(),
 * });
 * // with each change, in the transaction that makes it
 * await storage.notices.publish('directory', { collection: 'users', id }, tx);
 * ```
 *
 * A notice says *what* changed; its receiver reads the rows. With PGlite there is one node, and nothing is sent.
 */
import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** JSON. */
export type NoticePayload =
  | string
  | number
  | boolean
  | null
  | readonly NoticePayload[]
  | { readonly [key: string]: NoticePayload };

export interface NoticeListener {
  /**
   * Another node has published this. Calls come one at a time and in the order of the commits; each is waited for. What
   * it throws is logged, and `gap` is called.
   */
  notice(payload: NoticePayload): void | Promise<void>;
  /** Notices may have been lost, as the connection was: read everything anew. */
  gap(): void | Promise<void>;
  /**
   * A notice of this node, published with a mark, has had its turn among those of all nodes.
   *
   * @returns false when nobody waits for it any more: it is told as a notice of another node is
   */
  own?(mark: number): boolean;
}

export interface ChangeNotices {
  /**
   * Tells the other nodes. This one is told of its own changes only if they have a mark.
   *
   * @param topic whom it is for, e.g. `directory`
   * @param payload of any size; small ones (below 7 KB) travel faster
   * @param db the transaction that makes the change: it is told when that commits, or never
   * @param mark for `own` of this node's listeners
   */
  publish(topic: string, payload: NoticePayload, db?: Kysely<Schema>, mark?: number): Promise<void>;
  /** Returns how to stop it. */
  subscribe(topic: string, listener: NoticeListener): () => void;
  /**
   * Whether this node was alone on the database when it opened it: what belongs to a running set of nodes, and is still
   * there from the last one, can be thrown away.
   */
  readonly wasAlone: boolean;
  /** Whether there are other nodes on the database now, or were seconds ago. */
  readonly hasOthers: boolean;
}

/** For a database that one node has for itself. */
export const NO_NOTICES: ChangeNotices = {
  publish: async () => {},
  subscribe: () => () => undefined,
  wasAlone: true,
  hasOthers: false,
};
