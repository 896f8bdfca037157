/** Detects silent far ends. */
import type { TimerSet } from '../core/timer-set.ts';

/** The watched stream. */
export interface WatchedStream {
  /** Milliseconds since the last packet of the far end, or since `restartSilence`. */
  readonly silentMs: number;
  restartSilence(): void;
}

/** Longest delay of a timer; a longer limit takes several. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Detects a far end that has stopped sending (channel variables `media_timeout` and `media_hold_timeout`; the same
 * names with `_audio` take precedence).
 */
export class MediaTimeout {
  readonly #stream: WatchedStream;
  readonly #timers: Pick<TimerSet, 'after'>;
  readonly #expired: () => void;
  #cancel: (() => void) | undefined;

  /** @param expired called once, after the limit; watching then ends */
  constructor(stream: WatchedStream, timers: Pick<TimerSet, 'after'>, expired: () => void) {
    this.#stream = stream;
    this.#timers = timers;
    this.#expired = expired;
  }

  /** Starts watching. @param limitMs longest silence; 0 stops watching */
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

  /** Sets one timer for the whole limit, so that a packet only stores its time. */
  #arm(limitMs: number, inMs: number): void {
    this.#cancel = this.#timers.after(Math.min(inMs, LONGEST_MS), () => {
      this.#cancel = undefined;
      const left = limitMs - this.#stream.silentMs;
      if (left > 0) this.#arm(limitMs, left);
      else this.#expired();
    });
  }
}
