/** Tells when an overload of the node begins and ends. */

/** Milliseconds without a refused call after which an overload is over. */
const QUIET_MS = 5000;

export interface OverloadObserver {
  begun(): void;
  /** @param calls refused since the beginning @param seconds from the first to the last of them */
  ended(calls: number, seconds: number): void;
}

/** Turns refused calls into the beginning and the end of an overload. */
export class OverloadNotice {
  readonly #observer: OverloadObserver;
  readonly #now: () => number;
  #calls = 0;
  #first = 0;
  #latest = 0;

  /** @param now milliseconds of a clock that never goes back */
  constructor(observer: OverloadObserver, now: () => number = () => performance.now()) {
    this.#observer = observer;
    this.#now = now;
  }

  /** Counts calls that were refused because of overload. */
  refused(calls = 1): void {
    this.#latest = this.#now();
    this.#calls += calls;
    if (this.#calls > calls) return;
    this.#first = this.#latest;
    this.#observer.begun();
    this.#endIn(QUIET_MS);
  }

  #endIn(ms: number): void {
    setTimeout(() => {
      const quiet = this.#now() - this.#latest;
      if (quiet < QUIET_MS) return this.#endIn(QUIET_MS - quiet);
      const calls = this.#calls;
      this.#calls = 0;
      this.#observer.ended(calls, (this.#latest - this.#first) / 1000);
    }, ms).unref();
  }
}
