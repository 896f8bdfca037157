/** A timer that was set. */
export interface Timer {
  /** Ends it without firing. Harmless when it has fired. */
  cancel(): void;
}

/** Source of time, so that tests drive it by hand. */
export interface Timers {
  /** Milliseconds from an arbitrary start; never goes back. */
  now(): number;
  /** Calls `fire` once, not before `delay` ms have passed. */
  set(delay: number, fire: () => void): Timer;
  /** Drops every timer without firing. */
  clear(): void;
  /** Timers set and not fired or cancelled. */
  readonly size: number;
}

/** Timer values of RFC 3261 section 17 (table 4), in ms. Tests shorten them. */
export interface TimerValues {
  /** Round-trip estimate. */
  readonly t1: number;
  /** Longest interval between retransmissions of non-INVITE requests and INVITE responses. */
  readonly t2: number;
  /** How long a message stays in the network. */
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
 * All timers of the stack in one wheel of 10 ms ticks: setting and cancelling are constant time and one system timer
 * runs, only while there is something to wait for. A SIP call sets about ten timers and lets almost none fire.
 */
export class TimerWheel implements Timers {
  #size = 0;
  /** Time a timer that fires right now was due: what it sets counts from there, so that intervals do not drift. */
  #firing: number | undefined;
  /** Last tick looked at. */
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

  /** Fires what is due. Called by the ticker; tests with their own clock call it. */
  advance(): void {
    const until = Math.floor(this.now() / TICK);
    // After a long stall each slot needs only one visit, because timers are compared by their absolute tick.
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
      // Cancelling one of them later must not count twice.
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
