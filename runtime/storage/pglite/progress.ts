/** Progress of the PGlite worker in shared memory, readable while its thread hangs. */

const BEGUN = 0;
const SINCE = 1;
/** 31 bits of milliseconds: wraps after 24 days. */
const RANGE = 2 ** 31;

export class Progress {
  readonly #cells: Int32Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.#cells = new Int32Array(memory);
  }

  get memory(): SharedArrayBuffer {
    return this.#cells.buffer as SharedArrayBuffer;
  }

  /** Called by the worker at the start of each statement. */
  begin(): void {
    Atomics.store(this.#cells, SINCE, clock());
    Atomics.add(this.#cells, BEGUN, 1);
  }

  /** Number of statements started. */
  get begun(): number {
    return Atomics.load(this.#cells, BEGUN);
  }

  /** Milliseconds since the start of the last statement. */
  get elapsedMs(): number {
    return (clock() - Atomics.load(this.#cells, SINCE) + RANGE) % RANGE;
  }
}

/** A clock shared by all threads. */
function clock(): number {
  return Number((process.hrtime.bigint() / 1_000_000n) % BigInt(RANGE));
}
