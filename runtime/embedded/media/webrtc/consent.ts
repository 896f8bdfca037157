/** Far ends that repeat the checks of ICE for as long as they are there (RFC 7675). */
import type { TimerSet } from '../core/timer-set.ts';
import { MediaTimeout } from '../rtp/media-timeout.ts';

/** Consent lasts that long without a check (RFC 7675 section 5.1), ms. */
export const CONSENT_MS = 30_000;

/** Checks later than this after the first one, ms, are repeats: agents of RFC 5245 check for sound at first, and never again. */
const SETTLED_MS = 5000;

/** Detects a far end that has sent checks all the time, and sends neither these nor packets any more. */
export class Consent {
  readonly #timeout: MediaTimeout;
  readonly #now: () => number;
  #first: number | undefined;
  #last = 0;
  #watched = false;

  /**
   * @param stream.silentMs milliseconds since the last packet
   * @param lost called once
   * @param now the time, ms
   */
  constructor(
    stream: { readonly silentMs: number },
    timers: Pick<TimerSet, 'after'>,
    lost: () => void,
    now: () => number = () => performance.now(),
  ) {
    this.#now = now;
    const silence = (): number => Math.min(stream.silentMs, now() - this.#last);
    const watched = {
      get silentMs(): number {
        return silence();
      },
      restartSilence: () => undefined,
    };
    this.#timeout = new MediaTimeout(watched, timers, lost);
  }

  /** An authentic check has come. */
  checked(): void {
    this.#last = this.#now();
    this.#first ??= this.#last;
    if (this.#watched || this.#last - this.#first < SETTLED_MS) return;
    this.#watched = true;
    this.#timeout.watch(CONSENT_MS);
  }

  stop(): void {
    this.#timeout.stop();
  }
}
