/** Lifetimes of runtime entities. Ends are rounded to seconds, so that one timer serves all. */

const SECOND_MS = 1000;
/** Longer timers overflow in Node. */
const LONGEST_MS = 2 ** 31 - 1;

export class Lifetimes {
  readonly #now: () => number;
  readonly #onDue: () => void;
  readonly #ends = new Map<string, number>();
  /** Ids by the second of their end. */
  readonly #seconds = new Map<number, Set<string>>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

  /** @param onDue called when entities may have ended; `takeEnded` returns them */
  constructor(now: () => number, onDue: () => void) {
    this.#now = now;
    this.#onDue = onDue;
  }

  /** @param end milliseconds since the epoch */
  set(id: string, end: number): void {
    this.delete(id);
    const second = Math.ceil(end / SECOND_MS);
    this.#ends.set(id, second);
    const ids = this.#seconds.get(second) ?? new Set();
    this.#seconds.set(second, ids.add(id));
    if (second < this.#timerAt) this.#schedule(second);
  }

  delete(id: string): void {
    const second = this.#ends.get(id);
    if (second === undefined) return;
    this.#ends.delete(id);
    const ids = this.#seconds.get(second);
    ids?.delete(id);
    if (ids?.size === 0) this.#seconds.delete(second);
  }

  /** Removes and returns the ids of ended entities. */
  takeEnded(): readonly string[] {
    const now = this.#now() / SECOND_MS;
    if (this.#timerAt > now) return [];
    const due = [...this.#seconds.keys()].filter((second) => second <= now);
    const ids = due.flatMap((second) => [...(this.#seconds.get(second) ?? [])]);
    for (const id of ids) this.delete(id);
    this.#schedule(Math.min(...this.#seconds.keys()));
    return ids;
  }

  clear(): void {
    this.#ends.clear();
    this.#seconds.clear();
    this.#schedule(Infinity);
  }

  #schedule(second: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = second;
    if (second === Infinity) return;
    const wait = Math.min(Math.max(0, second * SECOND_MS - this.#now()), LONGEST_MS);
    this.#timer = setTimeout(() => {
      this.#onDue();
      // Not yet due: the clock is behind the timer, or the wait exceeded the longest timer.
      if (this.#timerAt === second) this.#schedule(second);
    }, wait);
    this.#timer.unref();
  }
}
