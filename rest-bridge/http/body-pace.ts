/** Minimum pace of request bodies, so that slow clients cannot hold connections. */

export interface BodyLimits {
  /** Base time of every body, in milliseconds. Default 10 000. */
  readonly graceMs: number;
  /** Bytes a second that extend this time. Default 500. */
  readonly bytesPerSecond: number;
  /** Milliseconds for the whole request of an unauthenticated sender, head included. Default 30 000. */
  readonly strangerMs: number;
  /** Milliseconds without a byte, at any point. Default 60 000. */
  readonly silenceMs: number;
}

const DEFAULTS: BodyLimits = { graceMs: 10_000, bytesPerSecond: 500, strangerMs: 30_000, silenceMs: 60_000 };

export interface PacedConnection {
  /** True while this side does not read. */
  isHeldUp(): boolean;
  /** Called once for each slow body. @param reason for the answer */
  tooSlow(reason: string): void;
}

/** Watches one body at a time of a connection. A body that comes with its head costs no timer. */
export class BodyPace {
  readonly #limits: BodyLimits;
  readonly #connection: PacedConnection;
  #timer: NodeJS.Timeout | undefined;
  /** Deadlines of the next bytes, and of the whole body of an unauthenticated sender; `performance.now()`. */
  #due = 0;
  #strangerDue = Infinity;
  #running = false;

  constructor(limits: Partial<BodyLimits> | undefined, connection: PacedConnection) {
    this.#limits = { ...DEFAULTS, ...limits };
    this.#connection = connection;
  }

  /**
   * Starts the time of a body.
   * @param headBegan start of its head, if that came in pieces
   */
  begin(headBegan = performance.now()): void {
    this.end();
    this.#running = true;
    this.#due = performance.now() + this.#limits.graceMs;
    this.#strangerDue = headBegan + this.#limits.strangerMs;
  }

  /** Extends the time by received bytes. */
  came(bytes: number): void {
    if (!this.#running) return;
    const { bytesPerSecond, silenceMs } = this.#limits;
    this.#due = Math.min(this.#due + (bytes * 1000) / bytesPerSecond, performance.now() + silenceMs);
  }

  /** Starts the wait for the rest of an incomplete body. */
  wait(): void {
    if (this.#running && this.#timer === undefined) this.#look();
  }

  /** Notes that the sender of the body is authenticated. */
  senderKnown(): void {
    this.#strangerDue = Infinity;
  }

  /** Stops the wait: the body is complete or no longer needed. */
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
