/**
 * Milliseconds without work after which a thread returns memory: soon, and again when its calls have expired (SIP
 * transactions live up to 32 s, RFC 3261 section 17).
 */
const RESTS_MS: readonly number[] = [5000, 40_000];
/** Growth of the heap in bytes that makes a collection worthwhile. */
const GROWN = 8 * 2 ** 20;

/** Decides when an idle thread returns memory. */
export class Rest {
  readonly #heap: () => number;
  readonly #restsMs: readonly number[];
  /** Heap size after the last collection; the start of a thread counts as growth. */
  #least = 0;
  /** Start of the idle time; undefined before the first look. */
  #since: number | undefined;
  #passed = 0;
  #gaveBack = false;

  /**
   * @param heap heap size of the thread in bytes
   * @param restsMs milliseconds without work
   */
  constructor(heap: () => number, restsMs = RESTS_MS) {
    this.#heap = heap;
    this.#restsMs = restsMs;
  }

  /**
   * Checks the thread; to be called periodically.
   * @param now milliseconds of any clock
   * @param works true while the thread has work
   * @returns true when memory is to be returned now
   */
  look(now: number, works: boolean): boolean {
    // The start is work, too: it leaves garbage.
    if (works || this.#since === undefined) {
      this.#since = now;
      this.#passed = 0;
      this.#gaveBack = false;
      return false;
    }
    const next = this.#restsMs[this.#passed];
    if (next === undefined || now - this.#since < next) return false;
    this.#passed += 1;
    return this.#gaveBack || this.#heap() - this.#least >= GROWN;
  }

  /** Memory was returned. */
  gaveBack(): void {
    this.#gaveBack = true;
    this.#least = this.#heap();
  }
}
