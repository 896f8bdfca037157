/**
 * Milliseconds without work after which a thread gives back memory: soon, and once more when nothing is kept of its calls
 * any more (SIP transactions stay for up to 32 s, RFC 3261 section 17).
 */
const RESTS_MS: readonly number[] = [5000, 40_000];
/** Bytes by which a heap has grown when it is worth while. */
const GROWN = 8 * 2 ** 20;

/** Decides when a thread that had work and has none gives back memory. */
export class Rest {
  readonly #heap: () => number;
  readonly #restsMs: readonly number[];
  /** What the heap took when memory was last given back. */
  #least: number;
  /** Since when there is no work; undefined before there was any, and while there is. */
  #since: number | undefined;
  #passed = 0;
  #gaveBack = false;

  /**
   * @param heap bytes that the heap of the thread takes of the system
   * @param restsMs milliseconds without work
   */
  constructor(heap: () => number, restsMs = RESTS_MS) {
    this.#heap = heap;
    this.#restsMs = restsMs;
    this.#least = heap();
  }

  /**
   * Looks at the thread; to be called from time to time.
   * @param now milliseconds of any clock
   * @param works whether somebody would be held up
   * @returns true: memory is to be given back now
   */
  look(now: number, works: boolean): boolean {
    if (works) {
      this.#since = now;
      this.#passed = 0;
      this.#gaveBack = false;
      return false;
    }
    const next = this.#restsMs[this.#passed];
    if (this.#since === undefined || next === undefined || now - this.#since < next) return false;
    this.#passed += 1;
    return this.#gaveBack || this.#heap() - this.#least >= GROWN;
  }

  /** Memory has been given back. */
  gaveBack(): void {
    this.#gaveBack = true;
    this.#least = this.#heap();
  }
}
