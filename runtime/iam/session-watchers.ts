import type { StoredSession } from './session-rows.ts';

/** Gets the session as it is now; undefined when it ended. It must not throw. */
export type SessionListener = (now: StoredSession | undefined) => void;

/** Who wants to know what becomes of a session, by the session's id: only those of the session at hand are asked. */
export class SessionWatchers {
  readonly #byId = new Map<string, Set<SessionListener>>();

  /** @returns a function that ends the watch */
  watch(id: string, listener: SessionListener): () => void {
    const listeners = this.#byId.get(id) ?? new Set();
    this.#byId.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#byId.get(id) === listeners) this.#byId.delete(id);
    };
  }

  /** Sessions that somebody watches. */
  get ids(): readonly string[] {
    return [...this.#byId.keys()];
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  tell(id: string, now: StoredSession | undefined): void {
    // A listener may end its watch, or begin another one.
    for (const listener of Array.from(this.#byId.get(id) ?? [])) listener(now);
  }
}
