/** How slowly the body of a request may come, so that a connection cannot be held for nothing. */

export interface BodyLimits {
  /** Milliseconds that every body has. Default 10 000. */
  readonly graceMs: number;
  /** Bytes a second by which that time grows. Default 500. */
  readonly bytesPerSecond: number;
  /** Milliseconds for the whole request, head included, while nobody knows who sends it. Default 30 000. */
  readonly strangerMs: number;
  /** Milliseconds without a byte, however much came before. Default 60 000. */
  readonly silenceMs: number;
}

const DEFAULTS: BodyLimits = { graceMs: 10_000, bytesPerSecond: 500, strangerMs: 30_000, silenceMs: 60_000 };

export interface PacedConnection {
  /** Whether nothing can come because this side does not read. */
  isHeldUp(): boolean;
  /** Told once for each body. @param reason for the answer */
  tooSlow(reason: string): void;
}

/** Watches one body at a time of a connection. A body that comes with its head costs no timer. */
export class BodyPace {
  readonly #limits: BodyLimits;
  readonly #connection: PacedConnection;
  #timer: NodeJS.Timeout | undefined;
  /** Until when more has to come, and until when all; `performance.now()`. */
  #due = 0;
  #strangerDue = Infinity;
  #running = false;

  constructor(limits: Partial<BodyLimits> | undefined, connection: PacedConnection) {
    this.#limits = { ...DEFAULTS, ...limits };
    this.#connection = connection;
  }

  /**
   * A body begins.
   * @param headBegan when its head did, if that came in pieces
   */
  begin(headBegan = performance.now()): void {
    this.end();
    this.#running = true;
    this.#due = performance.now() + this.#limits.graceMs;
    this.#strangerDue = headBegan + this.#limits.strangerMs;
  }

  /** Bytes came. */
  came(bytes: number): void {
    if (!this.#running) return;
    const { bytesPerSecond, silenceMs } = this.#limits;
    this.#due = Math.min(this.#due + (bytes * 1000) / bytesPerSecond, performance.now() + silenceMs);
  }

  /** The body at hand, if there is one, is not complete: it is waited for. */
  wait(): void {
    if (this.#running && this.#timer === undefined) this.#look();
  }

  /** The sender of the body at hand is known. */
  senderKnown(): void {
    this.#strangerDue = Infinity;
  }

  /** The body is complete, or nobody waits for it any more. */
  end(): void {
    this.#running = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const now = performance.now();
    if (this.#connection.isHeldUp()) this.#due = Math.max(this.#due, now + this.#limits.graceMs);
    const due = Math.min(this.#due, this.#strangerDue);
    if (due > now) {
      this.#timer = setTimeout(() => this.#look(), due - now);
      return;
    }
    const { bytesPerSecond } = this.#limits;
    this.end();
    this.#connection.tooSlow(
      due === this.#strangerDue
        ? 'the body took too long for a request without a session'
        : `the body came too slowly; send at least ${bytesPerSecond} bytes a second`,
    );
  }
}
