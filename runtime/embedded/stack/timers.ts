/** Timers of the SIP stack. */

/** A running timer. */
export interface Timer {
  /** Stops the timer. Has no effect once it has fired. */
  cancel(): void;
}

/** Source of time; tests pass one that they drive by hand. */
export interface Timers {
  /** Milliseconds from an arbitrary start; never goes back. */
  now(): number;
  /** Calls `fire` once, `delay` ms from now or later. */
  set(delay: number, fire: () => void): Timer;
  /** Drops every timer without firing. */
  clear(): void;
  /** Number of running timers. */
  readonly size: number;
}

/** Timer values of RFC 3261 section 17 (table 4), in ms. Tests shorten them. */
export interface TimerValues {
  /** Round-trip estimate. */
  readonly t1: number;
  /** Longest interval between retransmissions of non-INVITE requests and INVITE responses. */
  readonly t2: number;
  /** Longest time that a message stays in the network. */
  readonly t4: number;
  /** Timer D over UDP, at least 32 s. */
  readonly d: number;
}

export const DEFAULT_TIMER_VALUES: TimerValues = { t1: 500, t2: 4000, t4: 5000, d: 32_000 };

const TICK = 10;
const SLOTS = 1024;

class WheelTimer implements Timer {
  readonly wheel: TimerWheel;
  readonly due: number;
  fire: (() => void) | undefined;
  previous: WheelTimer | undefined;
  next: WheelTimer | undefined;

  constructor(wheel: TimerWheel, due: number, fire: (() => void) | undefined) {
    this.wheel = wheel;
    this.due = due;
    this.fire = fire;
  }

  cancel(): void {
    if (this.fire === undefined) return;
    this.fire = undefined;
    this.wheel.unlink(this);
  }
}

/**
 * A timer wheel with ticks of 10 ms for all timers of the stack. Setting and cancelling take constant time, since a SIP
 * call sets about ten timers of which almost none fires. One system timer runs, only while a timer is set.
 */
export class TimerWheel implements Timers {
  #size = 0;
  /** Due time of the timer that is firing. Timers set by it count from there, so that intervals do not drift. */
  #firing: number | undefined;
  /** The last handled tick. */
  #tick = 0;
  #ticker: NodeJS.Timeout | undefined;
  readonly #slots: (WheelTimer | undefined)[] = Array.from({ length: SLOTS });
  readonly #clock: () => number;

  /** @param clock ms, monotonic. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#tick = Math.floor(clock() / TICK);
  }

  get size(): number {
    return this.#size;
  }

  now(): number {
    return this.#clock();
  }

  set(delay: number, fire: () => void): Timer {
    const now = this.#firing ?? this.now();
    if (this.#size === 0 && this.#firing === undefined) this.#tick = Math.floor(now / TICK);
    const due = Math.max(Math.ceil((now + delay) / TICK), this.#tick + 1);
    const timer = new WheelTimer(this, due, fire);
    const slot = due % SLOTS;
    const first = this.#slots[slot];
    timer.next = first;
    if (first !== undefined) first.previous = timer;
    this.#slots[slot] = timer;
    this.#size += 1;
    this.#ticker ??= setInterval(() => this.advance(), TICK);
    return timer;
  }

  /** @internal Takes a cancelled timer out of its slot. */
  unlink(timer: WheelTimer): void {
    if (timer.previous !== undefined) timer.previous.next = timer.next;
    else this.#slots[timer.due % SLOTS] = timer.next;
    if (timer.next !== undefined) timer.next.previous = timer.previous;
    this.#size -= 1;
    if (this.#size === 0) this.#stop();
  }

  /** Fires the due timers. Called by the ticker, and by tests with a clock of their own. */
  advance(): void {
    const until = Math.floor(this.now() / TICK);
    // After a long stall one visit of each slot is enough, because timers are compared by their absolute tick.
    let from = Math.max(this.#tick + 1, until - SLOTS + 1);
    this.#tick = until;
    for (; from <= until; from += 1) {
      let timer = this.#slots[from % SLOTS];
      while (timer !== undefined) {
        const next: WheelTimer | undefined = timer.next;
        const fire = timer.fire;
        if (timer.due <= until && fire !== undefined) {
          timer.fire = undefined;
          this.unlink(timer);
          this.#firing = timer.due * TICK;
          fire();
          this.#firing = undefined;
        }
        timer = next;
      }
    }
  }

  /** Drops every timer without firing. */
  clear(): void {
    for (const first of this.#slots) {
      // Cancelling a cleared timer later must not change the size again.
      for (let timer = first; timer !== undefined; timer = timer.next) timer.fire = undefined;
    }
    this.#slots.fill(undefined);
    this.#size = 0;
    this.#stop();
  }

  #stop(): void {
    if (this.#ticker !== undefined) clearInterval(this.#ticker);
    this.#ticker = undefined;
  }
}
