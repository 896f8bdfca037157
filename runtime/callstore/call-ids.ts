/** Which call a Call-ID, a dialog or a run belongs to: live, or ended a short time ago. */

/** Milliseconds for which the ids of an ended call are known. */
const KEPT_MS = 60_000;
/** Ended calls whose ids are known, at most. */
const KEPT_CALLS = 5000;

/**
 * Finds the id of a call (its `inviteid`) by any other of its ids, for log lines and captured messages. A leg that moved
 * belongs to its latest call.
 */
export class CallIds {
  readonly #callOf = new Map<string, string>();
  readonly #idsOf = new Map<string, Set<string>>();
  /** Ended calls with the time of their end, oldest first. */
  readonly #ended = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The call with this id, if it is known. */
  of(id: string): string | undefined {
    return this.#callOf.get(id);
  }

  /** @param ids of the call's dialog, legs and runs */
  live(call: string, ids: readonly string[]): void {
    let known = this.#idsOf.get(call);
    if (known === undefined) this.#idsOf.set(call, (known = new Set()));
    for (const id of ids) {
      known.add(id);
      this.#callOf.set(id, call);
    }
    // A dialog that waited for the end of a transfer may go on.
    this.#ended.delete(call);
  }

  over(call: string): void {
    if (!this.#idsOf.has(call)) return;
    const now = this.#now();
    this.#ended.set(call, now);
    for (const [each, at] of this.#ended) {
      if (now - at < KEPT_MS && this.#ended.size <= KEPT_CALLS) return;
      this.#forget(each);
    }
  }

  #forget(call: string): void {
    this.#ended.delete(call);
    for (const id of this.#idsOf.get(call) ?? []) if (this.#callOf.get(id) === call) this.#callOf.delete(id);
    this.#idsOf.delete(call);
  }
}
