/** Which statement the PGlite worker is at, and since when: shared memory, so that it can be told of a thread that hangs. */

const BEGUN = 0;
const SINCE = 1;
/** Milliseconds are counted in 31 bits: they go round in 24 days. */
const RANGE = 2 ** 31;

export class Progress {
  readonly #cells: Int32Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.#cells = new Int32Array(memory);
  }

  get memory(): SharedArrayBuffer {
    return this.#cells.buffer as SharedArrayBuffer;
  }

  /** The worker begins the next statement. */
  begin(): void {
    Atomics.store(this.#cells, SINCE, clock());
    Atomics.add(this.#cells, BEGUN, 1);
  }

  /** How many statements were begun. */
  get begun(): number {
    return Atomics.load(this.#cells, BEGUN);
  }

  /** Milliseconds since the last was begun. */
  get elapsedMs(): number {
    return (clock() - Atomics.load(this.#cells, SINCE) + RANGE) % RANGE;
  }
}

/** The same in all threads. */
function clock(): number {
  return Number((process.hrtime.bigint() / 1_000_000n) % BigInt(RANGE));
}
