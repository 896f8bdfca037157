/** The 20 ms clock of all media. */
import { FRAME_MS } from '../audio/format.ts';

/**
 * Turns within a frame. Channels are spread over them, so that the packets of hundreds of calls do not leave in one
 * burst and delay each other.
 */
export const TURNS = 4;

const TURN_MS = FRAME_MS / TURNS;

/** After a longer stall than this the missed frames are skipped, not made up for. */
const MAX_CATCH_UP_FRAMES = 10;

/** Figures of the ticker, for `stats()`. */
export interface TickerFigures {
  /** Largest lateness of a turn, ms. */
  readonly maxLatenessMs: number;
  /** Turns that ran more than 10 ms late. */
  readonly lateTicks: number;
  /** Frame slots skipped after a stall. */
  readonly skippedFrames: number;
}

/** Clock and timers of a ticker; replaced in tests. */
export interface TickerClock {
  now(): number;
  after(milliseconds: number, run: () => void): { cancel(): void };
}

/** The user of a ticker. */
export interface TickerUser {
  /** Handles a turn; `frame` equals the ticker's. */
  tick(frame: number, turn: number): void;
  /** Whether a turn is needed; the first turn of each frame always comes. */
  wants(turn: number): boolean;
}

const systemClock: TickerClock = {
  now: () => performance.now(),
  after: (milliseconds, run) => {
    if (milliseconds < 1) {
      // A timer takes at least a millisecond, too long when catching up. Sockets are read between immediates too.
      const immediate = setImmediate(run);
      return { cancel: () => clearImmediate(immediate) };
    }
    const timer = setTimeout(run, milliseconds);
    return { cancel: () => clearTimeout(timer) };
  },
};

/**
 * One 20 ms beat for all media, in turns of 5 ms. Each turn is due at start + n * 5 ms, so that lateness does not add
 * up. After a short stall the missed turns follow at double speed, not in a burst. After a long one whole frames are
 * skipped.
 */
export class Ticker {
  readonly #clock: TickerClock;
  readonly #user: TickerUser;
  #start = 0;
  /** Turns since the start: frame times {@link TURNS} plus the turn within it. */
  #slot = 0;
  #timer: { cancel(): void } | undefined;
  #maxLatenessMs = 0;
  #lateTicks = 0;
  #skippedFrames = 0;

  constructor(user: TickerUser, clock: TickerClock = systemClock) {
    this.#clock = clock;
    this.#user = user;
  }

  /** Frames since the start, skipped ones included: the time base of every RTP stream. */
  get frame(): number {
    return Math.floor(this.#slot / TURNS);
  }

  get running(): boolean {
    return this.#timer !== undefined;
  }

  get figures(): TickerFigures {
    return { maxLatenessMs: this.#maxLatenessMs, lateTicks: this.#lateTicks, skippedFrames: this.#skippedFrames };
  }

  /** Milliseconds since the due time of the current turn. */
  latenessMs(): number {
    return this.#clock.now() - this.#dueAt(this.#slot);
  }

  start(): void {
    if (this.#timer !== undefined) return;
    const now = this.#clock.now();
    this.#start = now - this.#slot * TURN_MS;
    this.#schedule(now);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #dueAt(slot: number): number {
    return this.#start + slot * TURN_MS;
  }

  /**
   * Sets the timer for the next needed turn.
   *
   * @param began start of this turn: while catching up, turns start half their time apart, regardless of their duration
   */
  #schedule(began: number): void {
    let next = this.#slot + 1;
    while (next % TURNS !== 0 && !this.#user.wants(next % TURNS)) next += 1;
    const spacing = ((next - this.#slot) * TURN_MS) / 2;
    const at = Math.max(this.#dueAt(next), began + spacing);
    this.#timer = this.#clock.after(at - this.#clock.now(), () => this.#run(next));
  }

  #run(slot: number): void {
    this.#slot = slot;
    const now = this.#clock.now();
    const lateness = now - this.#dueAt(slot);
    // Node may fire a timer a fraction of a millisecond early. Running then is harmless and keeps the beat even.
    if (lateness > this.#maxLatenessMs) this.#maxLatenessMs = lateness;
    if (lateness > 10) this.#lateTicks += 1;
    if (lateness > MAX_CATCH_UP_FRAMES * FRAME_MS) {
      const skipped = Math.floor(lateness / FRAME_MS);
      this.#slot += skipped * TURNS;
      this.#skippedFrames += skipped;
    }
    this.#user.tick(this.frame, this.#slot % TURNS);
    if (this.#timer !== undefined) this.#schedule(now);
  }
}
