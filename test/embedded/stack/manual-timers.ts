import type { Timer, Timers } from '../../../runtime/embedded/stack/index.ts';

interface Entry {
  readonly due: number;
  readonly fire: () => void;
}

/** Time that only moves when a test says so. */
export class ManualTimers implements Timers {
  #now = 0;
  readonly #entries = new Set<Entry>();

  get size(): number {
    return this.#entries.size;
  }

  now(): number {
    return this.#now;
  }

  set(delay: number, fire: () => void): Timer {
    const entry = { due: this.#now + delay, fire };
    this.#entries.add(entry);
    return { cancel: () => void this.#entries.delete(entry) };
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Moves the clock, firing timers in the order they are due. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      let next: Entry | undefined;
      for (const entry of this.#entries)
        if (entry.due <= until && (next === undefined || entry.due < next.due)) next = entry;
      if (next === undefined) break;
      this.#entries.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.fire();
    }
    this.#now = until;
  }
}
