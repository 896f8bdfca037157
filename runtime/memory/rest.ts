/** Milliseconds without work after which a thread returns memory. */
export interface Rests {
  /** Without work since its start. */
  readonly afterStartMs: number;
  readonly afterWorkMs: number;
}

/**
 * Calls have expired after 32 s (SIP transactions, RFC 3261 section 17). A collection before that would only make later ones more frequent: V8
 * lets a heap grow by a share of what it keeps.
 */
const RESTS: Rests = { afterStartMs: 5000, afterWorkMs: 35_000 };
/** Growth of the heap in bytes that makes a collection worthwhile. */
const GROWN = 8 * 2 ** 20;

/** Decides when an idle thread returns memory. */
export class Rest {
  readonly #heap: () => number;
  readonly #afterWorkMs: number;
  /** Heap size after the last collection; the start of a thread counts as growth. */
  #least = 0;
  /** Start of the idle time; undefined before the first look. */
  #since: number | undefined;
  #neededMs: number;
  /** This idle time was long enough. */
  #passed = false;

  /** @param heap heap size of the thread in bytes */
  constructor(heap: () => number, rests = RESTS) {
    this.#heap = heap;
    this.#neededMs = rests.afterStartMs;
    this.#afterWorkMs = rests.afterWorkMs;
  }

  /**
   * Checks the thread; to be called periodically.
   * @param now milliseconds of any clock
   * @param works true while the thread has work
   * @returns true when memory is to be returned now
   */
  look(now: number, works: boolean): boolean {
    this.#since ??= now;
    if (works) {
      this.#since = now;
      this.#neededMs = this.#afterWorkMs;
      this.#passed = false;
      return false;
    }
    if (this.#passed || now - this.#since < this.#neededMs) return false;
    this.#passed = true;
    return this.#heap() - this.#least >= GROWN;
  }

  /** Memory was returned. */
  gaveBack(): void {
    this.#least = this.#heap();
  }
}
