/** SIP timer values in milliseconds (RFC 3261 section 17.1.1.1 and table 4). */
export interface SipTimers {
  readonly t1: number;
  readonly t2: number;
}

export const RFC3261_TIMERS: SipTimers = { t1: 500, t2: 4000 };

/** The timers of one transaction: none survives `clear`, none keeps the process alive. */
export class TimerSet {
  readonly #running = new Set<NodeJS.Timeout>();

  after(milliseconds: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#running.delete(timer);
      action();
    }, milliseconds);
    timer.unref();
    this.#running.add(timer);
  }

  clear(): void {
    for (const timer of this.#running) clearTimeout(timer);
    this.#running.clear();
  }
}
