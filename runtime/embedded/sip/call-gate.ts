/** Lets an application refuse new calls at the SIP server, before they cost it time. */

/** Places of the shared memory. */
const ROOM = 0;
const TAKEN = 1;
const PASSED = 2;
const REFUSED = 3;
const PLACES = 4;
const NO_LIMIT = -1;

/** Calls on their way that pass without a limit of the application. The last of them already waits for about 0.2 s. */
const MOST = 60;
/** Milliseconds without a taken call after which those on their way count as lost, for example with a connection. */
const LOST_MS = 1000;

/** Retry-After of refused calls, seconds. */
export const RETRY_AFTER = 1;

/**
 * The gate that new calls pass on their way from the SIP server's thread to the application's. Messages between the threads wait
 * while the application is busy, so the gate is memory of both: the SIP server counts the calls on their way.
 */
export class CallGate {
  readonly memory: SharedArrayBuffer;
  readonly #places: Int32Array;
  readonly #now: () => number;
  #reported = 0;
  /** When the last call that may pass was on its way, and the number of taken calls at that time. */
  #full: { readonly since: number; readonly taken: number } | undefined;

  /**
   * @param memory of the other thread's gate; absent: a new one, without a limit
   * @param now milliseconds of a clock that never goes back
   */
  constructor(memory?: SharedArrayBuffer, now: () => number = () => performance.now()) {
    this.#now = now;
    this.memory = memory ?? new SharedArrayBuffer(PLACES * Int32Array.BYTES_PER_ELEMENT);
    this.#places = new Int32Array(this.memory);
    if (memory === undefined) this.room = undefined;
  }

  /** Set by the application: the number of calls that may be on their way; undefined: a hundred. */
  set room(calls: number | undefined) {
    Atomics.store(this.#places, ROOM, calls ?? NO_LIMIT);
  }

  /** Calls on their way to the application. */
  get coming(): number {
    return (Atomics.load(this.#places, PASSED) - Atomics.load(this.#places, TAKEN)) | 0;
  }

  /** True when as many calls are on their way as the application allows. */
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
    const passes = always || !(this.shut || this.#isFull());
    Atomics.add(this.#places, passes ? PASSED : REFUSED, 1);
    return passes;
  }

  /** A busy application sets `room` too late. */
  #isFull(): boolean {
    if (this.coming < MOST) {
      this.#full = undefined;
      return false;
    }
    const taken = Atomics.load(this.#places, TAKEN);
    const now = this.#now();
    if (this.#full?.taken !== taken) this.#full = { since: now, taken };
    if (now - this.#full.since < LOST_MS) return true;
    this.settle();
    return false;
  }
}
