/** Watchers of sessions. */
import type { StoredSession } from './session-rows.ts';

/** Receives the current session; undefined when it ended. It must not throw. */
export type SessionListener = (now: StoredSession | undefined) => void;

/** Watchers by session id, so that a change calls only those of its session. */
export class SessionWatchers {
  readonly #byId = new Map<string, Set<SessionListener>>();

  /** @returns the function that ends the watch */
  watch(id: string, listener: SessionListener): () => void {
    const listeners = this.#byId.get(id) ?? new Set();
    this.#byId.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#byId.get(id) === listeners) this.#byId.delete(id);
    };
  }

  /** Ids of the watched sessions. */
  get ids(): readonly string[] {
    return [...this.#byId.keys()];
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  tell(id: string, now: StoredSession | undefined): void {
    // A watcher may end its watch, or begin another one.
    for (const listener of Array.from(this.#byId.get(id) ?? [])) listener(now);
  }
}
