/** Answers within a dialog that mean that the far end has lost it (RFC 3261 section 12.2.1.2). */
const GONE = new Set([408, 481]);

/** Answer to a probe: its status, and whether the SIP server generated it because the far end was unreachable. */
export interface LivenessAnswer {
  readonly status: number;
  readonly local: boolean;
}

/**
 * Detects vanished phones, even without session timers: after a while without requests the phone is probed, and any
 * answer shows that it is alive.
 */
export class Liveness {
  #timer: NodeJS.Timeout;
  readonly #ask: () => Promise<LivenessAnswer>;
  readonly #lost: () => void;
  #over = false;

  /**
   * @param silenceMs milliseconds without a request after which the phone is probed
   * @param ask sends a request without effect within the dialog
   * @param lost called once, when the phone has lost the dialog or is unreachable
   */
  constructor(silenceMs: number, ask: () => Promise<LivenessAnswer>, lost: () => void) {
    this.#ask = ask;
    this.#lost = lost;
    this.#timer = this.#after(silenceMs);
  }

  /** The phone sent something. */
  heard(): void {
    if (!this.#over) this.#timer.refresh();
  }

  /**
   * Probes immediately.
   * @param silenceMs milliseconds without a request after which the phone is probed from now on; absent: as before
   */
  askNow(silenceMs?: number): void {
    if (this.#over) return;
    if (silenceMs !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = this.#after(silenceMs);
    }
    void this.#question();
  }

  stop(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }

  #after(silenceMs: number): NodeJS.Timeout {
    return setTimeout(() => void this.#question(), silenceMs).unref();
  }

  async #question(): Promise<void> {
    const gone = await this.#ask().then(
      ({ status, local }) => GONE.has(status) || (local && status === 503),
      // The SIP server has lost the dialog, too.
      () => true,
    );
    if (this.#over) return;
    if (!gone) this.heard();
    else {
      this.stop();
      this.#lost();
    }
  }
}
