import type { TimerSet } from '../core/timer-set.ts';

/** The stream that is watched. */
export interface WatchedStream {
  /** Milliseconds since the last packet of the far end, or since `restartSilence`. */
  readonly silentMs: number;
  restartSilence(): void;
}

/** The longest that a timer can wait; a longer limit takes several. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Notices a far end that sends nothing any more (channel variables `media_timeout` and `media_hold_timeout`, which the same
 * names with `_audio` go before).
 */
export class MediaTimeout {
  readonly #stream: WatchedStream;
  readonly #timers: TimerSet;
  readonly #expired: () => void;
  #cancel: (() => void) | undefined;

  /** @param expired called once, when the limit has passed; watching is over then */
  constructor(stream: WatchedStream, timers: TimerSet, expired: () => void) {
    this.#stream = stream;
    this.#timers = timers;
    this.#expired = expired;
  }

  /** Watches from now on; @param limitMs 0: does not */
  watch(limitMs: number): void {
    this.stop();
    if (limitMs <= 0) return;
    this.#stream.restartSilence();
    this.#arm(limitMs, limitMs);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** One timer for a whole limit: a packet costs nothing but the note of its time. */
  #arm(limitMs: number, inMs: number): void {
    this.#cancel = this.#timers.after(Math.min(inMs, LONGEST_MS), () => {
      this.#cancel = undefined;
      const left = limitMs - this.#stream.silentMs;
      if (left > 0) this.#arm(limitMs, left);
      else this.#expired();
    });
  }
}
