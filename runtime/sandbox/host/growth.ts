/** Bytes a process may use beyond its initial memory and the limits of its runs. */
const SPARE = 32 * 1_048_576;
/** Number of new runs between two checks below which a process counts as idle. */
const FEW = 2;
/** Number of consecutive checks before it counts. */
const LOOKS = 3;

/** State of a process at a check. */
export interface Look {
  /** Its resident memory, in bytes. */
  readonly rss: number;
  /** Memory limits of its runs together, in bytes. */
  readonly allowed: number;
  /** Runs started since the last check. */
  readonly arrivals: number;
}

/**
 * Detects a process that keeps memory from a busy time: heaps of successive isolates and the pages between them, which
 * neither V8 nor the allocator returns.
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
