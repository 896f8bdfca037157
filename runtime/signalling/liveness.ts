/** Answers to a request within a dialog that mean that the far end has it no more (RFC 3261 section 12.2.1.2). */
const GONE = new Set([408, 481]);

/** Answer to a question: its status, and whether the SIP server made it because nobody was reached. */
export interface LivenessAnswer {
  readonly status: number;
  readonly local: boolean;
}

/**
 * Notices that a phone has vanished, also one that knows no session timers: when nothing came from it for a while it is
 * asked, and whatever it answers shows that it is there.
 */
export class Liveness {
  readonly #timer: NodeJS.Timeout;
  readonly #ask: () => Promise<LivenessAnswer>;
  readonly #lost: () => void;
  #over = false;

  /**
   * @param silenceMs time without a request of the phone after which it is asked
   * @param ask sends a request within the dialog that changes nothing
   * @param lost called once, when the phone does not know the dialog any more or cannot be reached
   */
  constructor(silenceMs: number, ask: () => Promise<LivenessAnswer>, lost: () => void) {
    this.#ask = ask;
    this.#lost = lost;
    this.#timer = setTimeout(() => void this.#question(), silenceMs).unref();
  }

  /** The phone sent something. */
  heard(): void {
    if (!this.#over) this.#timer.refresh();
  }

  /** Does not wait for the silence. */
  askNow(): void {
    if (!this.#over) void this.#question();
  }

  stop(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }

  async #question(): Promise<void> {
    const gone = await this.#ask().then(
      ({ status, local }) => GONE.has(status) || (local && status === 503),
      // The SIP server does not know the dialog either.
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
