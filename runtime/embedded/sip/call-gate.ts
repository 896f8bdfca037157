/** Lets an application refuse new calls at the SIP server, before they cost it time. */

/** Places of the shared memory. */
const ROOM = 0;
const TAKEN = 1;
const PASSED = 2;
const REFUSED = 3;
const PLACES = 4;
const NO_LIMIT = -1;

/** Retry-After of refused calls, seconds. */
export const RETRY_AFTER = 1;

/**
 * The gate that new calls pass on their way from the SIP server's thread to the application's. Messages between the threads wait
 * while the application is busy, so the gate is memory of both: the SIP server counts the calls on their way.
 */
export class CallGate {
  readonly memory: SharedArrayBuffer;
  readonly #places: Int32Array;
  #reported = 0;

  /** @param memory of the other thread's gate; absent: a new one, without a limit */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(PLACES * Int32Array.BYTES_PER_ELEMENT);
    this.#places = new Int32Array(this.memory);
    if (memory === undefined) this.room = undefined;
  }

  /** Set by the application: the number of calls that may be on their way; undefined: any. */
  set room(calls: number | undefined) {
    Atomics.store(this.#places, ROOM, calls ?? NO_LIMIT);
  }

  /** Calls on their way to the application. */
  get coming(): number {
    return (Atomics.load(this.#places, PASSED) - Atomics.load(this.#places, TAKEN)) | 0;
  }

  /** No new call may pass, unless the limit does not concern it. */
  get shut(): boolean {
    const room = Atomics.load(this.#places, ROOM);
    return room !== NO_LIMIT && this.coming >= room;
  }

  /** For the application: a new call has come. */
  take(): void {
    Atomics.add(this.#places, TAKEN, 1);
  }

  /** For the application: nothing is on its way. Calls that never came, as with a lost connection, count no longer. */
  settle(): void {
    Atomics.store(this.#places, PASSED, Atomics.load(this.#places, TAKEN));
  }

  /** For the application: the number of refused calls since this was asked before. */
  refused(): number {
    const all = Atomics.load(this.#places, REFUSED);
    const since = (all - this.#reported) | 0;
    this.#reported = all;
    return since;
  }

  /**
   * For the SIP server: whether a new call may pass, which counts it.
   * @param always true for a call that the limit does not concern
   */
  pass(always: boolean): boolean {
    const passes = always || !this.shut;
    Atomics.add(this.#places, passes ? PASSED : REFUSED, 1);
    return passes;
  }
}
