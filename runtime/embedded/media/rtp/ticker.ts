import { FRAME_MS } from '../audio/format.ts';

/** Behind by more than this many frames, the missed ones are given up instead of being made up for. */
const MAX_CATCH_UP_FRAMES = 10;

/** While catching up, frames follow each other in no less than this. */
const CATCH_UP_SPACING_MS = FRAME_MS / 2;

/** What the ticker has seen, for `stats()`. */
export interface TickerFigures {
  /** Largest lateness of a tick in milliseconds. */
  readonly maxLatenessMs: number;
  /** Ticks that ran more than 10 ms late. */
  readonly lateTicks: number;
  /** Frame slots given up after a stall. */
  readonly skippedFrames: number;
}

/** The clock and timer a ticker runs on; replaced in tests. */
export interface TickerClock {
  now(): number;
  after(milliseconds: number, run: () => void): { cancel(): void };
}

const systemClock: TickerClock = {
  now: () => performance.now(),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    return { cancel: () => clearTimeout(timer) };
  },
};

/**
 * One 20 ms beat for all media. Each beat is due at start + n * 20 ms, so that lateness never adds up. After a short
 * stall the missed frames follow at double speed, never in a burst; after a long one they are skipped.
 */
export class Ticker {
  readonly #clock: TickerClock;
  readonly #onTick: (frame: number) => void;
  #start = 0;
  #frame = 0;
  #timer: { cancel(): void } | undefined;
  #maxLatenessMs = 0;
  #lateTicks = 0;
  #skippedFrames = 0;

  constructor(onTick: (frame: number) => void, clock: TickerClock = systemClock) {
    this.#clock = clock;
    this.#onTick = onTick;
  }

  /** Frames since the start, skipped ones included: the time base of every RTP stream. */
  get frame(): number {
    return this.#frame;
  }

  get running(): boolean {
    return this.#timer !== undefined;
  }

  get figures(): TickerFigures {
    return { maxLatenessMs: this.#maxLatenessMs, lateTicks: this.#lateTicks, skippedFrames: this.#skippedFrames };
  }

  /** Milliseconds by which the current moment is past the due time of the current frame. */
  latenessMs(): number {
    return this.#clock.now() - this.#dueAt(this.#frame);
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#start = this.#clock.now() - this.#frame * FRAME_MS;
    this.#schedule(FRAME_MS);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #dueAt(frame: number): number {
    return this.#start + frame * FRAME_MS;
  }

  #schedule(milliseconds: number): void {
    this.#timer = this.#clock.after(milliseconds, () => this.#run());
  }

  #run(): void {
    this.#frame += 1;
    const lateness = this.latenessMs();
    // Node may fire a timer a fraction of a millisecond early; running then is harmless and keeps the beat even.
    if (lateness > this.#maxLatenessMs) this.#maxLatenessMs = lateness;
    if (lateness > 10) this.#lateTicks += 1;
    if (lateness > MAX_CATCH_UP_FRAMES * FRAME_MS) {
      const skipped = Math.floor(lateness / FRAME_MS);
      this.#frame += skipped;
      this.#skippedFrames += skipped;
    }
    this.#onTick(this.#frame);
    if (this.#timer === undefined) return;
    const until = this.#dueAt(this.#frame + 1) - this.#clock.now();
    this.#schedule(Math.max(until, CATCH_UP_SPACING_MS));
  }
}
