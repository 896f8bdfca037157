/** Sessions in memory, by hash of their secret and by id; bounded, the least recently read is dropped first. */
import type { StoredSession } from './session-rows.ts';

interface Entry {
  readonly session: StoredSession;
  /** Time of the last database read, milliseconds since the epoch. */
  readonly readAt: number;
}

export class SessionCache {
  readonly #limit: number;
  readonly #byHash = new Map<string, Entry>();
  readonly #hashes = new Map<string, string>();
  #complete = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** True while the whole table is cached: an unknown session then does not exist. */
  get complete(): boolean {
    return this.#complete;
  }

  get(tokenHash: string): Entry | undefined {
    return this.#byHash.get(tokenHash);
  }

  byId(id: string): StoredSession | undefined {
    const tokenHash = this.#hashes.get(id);
    return tokenHash === undefined ? undefined : this.#byHash.get(tokenHash)?.session;
  }

  put(tokenHash: string, session: StoredSession, readAt: number): void {
    this.#byHash.delete(tokenHash);
    this.#byHash.set(tokenHash, { session, readAt });
    this.#hashes.set(session.id, tokenHash);
    if (this.#byHash.size <= this.#limit) return;
    const oldest = this.#byHash.values().next().value;
    if (oldest === undefined) return;
    this.#complete = false;
    this.remove(oldest.session.id);
  }

  /** Replaces a cached session. */
  change(id: string, change: (session: StoredSession) => StoredSession): void {
    const tokenHash = this.#hashes.get(id);
    const entry = tokenHash === undefined ? undefined : this.#byHash.get(tokenHash);
    if (tokenHash === undefined || entry === undefined) return;
    this.#byHash.set(tokenHash, { ...entry, session: change(entry.session) });
  }

  remove(id: string): void {
    const tokenHash = this.#hashes.get(id);
    if (tokenHash === undefined) return;
    this.#hashes.delete(id);
    this.#byHash.delete(tokenHash);
  }

  /** Ids of a user's cached sessions. */
  idsOf(userId: string): readonly string[] {
    return [...this.#byHash.values()].flatMap(({ session }) => (session.userId === userId ? [session.id] : []));
  }

  /** Drops all sessions; the next access reads the table. */
  forget(): void {
    this.#complete = false;
    this.#byHash.clear();
    this.#hashes.clear();
  }

  /** Replaces the cache. `all`: these are all sessions. */
  fill(sessions: Iterable<readonly [tokenHash: string, session: StoredSession]>, all: boolean, readAt: number): void {
    this.#byHash.clear();
    this.#hashes.clear();
    this.#complete = all;
    for (const [tokenHash, session] of sessions) this.put(tokenHash, session, readAt);
  }
}
