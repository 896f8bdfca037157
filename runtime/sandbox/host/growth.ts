/** Bytes that a process may have beyond what it had at first and what its runs may take. */
const SPARE = 32 * 1_048_576;
/** Runs that come between two looks at a process that has little to do. */
const FEW = 2;
/** Looks in a row after which it counts. */
const LOOKS = 3;

/** What a process is found to be at a look. */
export interface Look {
  /** Its resident memory, in bytes. */
  readonly rss: number;
  /** What its runs may take, in bytes. */
  readonly allowed: number;
  /** Runs that came to it since the last look. */
  readonly arrivals: number;
}

/**
 * Notices a process that was busy once and holds what it took then: the heaps of isolates that were used one after the other,
 * and the pages between them, which neither V8 nor the allocator gives back.
 */
export class Growth {
  readonly #atFirst: number;
  #looks = 0;

  /** @param atFirst its resident memory when it had done nothing, in bytes */
  constructor(atFirst: number) {
    this.#atFirst = atFirst;
  }

  /** @returns whether another process would do the same with much less memory */
  look({ rss, allowed, arrivals }: Look): boolean {
    const idle = arrivals <= FEW && rss - this.#atFirst - allowed > SPARE;
    this.#looks = idle ? this.#looks + 1 : 0;
    return this.#looks >= LOOKS;
  }
}
