/** Keep-alives of a connection that this side opened (RFC 5626 section 4.4.1). */

/** What a keep-alive needs of its connection. */
export interface KeptConnection {
  /** Sends the double CRLF. */
  ping(): void;
  /** Closes a connection that nobody uses. */
  idle(): void;
  /** The far end, which has answered before, did not answer. */
  dead(): void;
}

/** Times, ms. */
export interface KeepAliveTimes {
  /** Between two pings. */
  readonly every: number;
  /** For an answer. */
  readonly answer: number;
  /** Without a message, until the connection is closed. */
  readonly idle: number;
}

const PING_EVERY = 100_000;
const PONG_WITHIN = 10_000;

/** @param idle time without a message after which the connection is closed, ms */
export function keepAliveTimes(idle: number): KeepAliveTimes {
  return { every: Math.min(PING_EVERY, idle), answer: PONG_WITHIN, idle };
}

/**
 * Pings the far end, so that firewalls on the way keep the connection. A far end that has answered a ping must answer the next
 * ones; one that never does is only pinged.
 */
export class KeepAlive {
  readonly #connection: KeptConnection;
  readonly #times: KeepAliveTimes;
  readonly #timer: NodeJS.Timeout;
  #missing: NodeJS.Timeout | undefined;
  #answers = false;
  #stays = false;
  #messageAt = Date.now();

  constructor(connection: KeptConnection, times: KeepAliveTimes) {
    this.#connection = connection;
    this.#times = times;
    this.#timer = setInterval(() => this.#tick(), times.every).unref();
  }

  /** A message has passed. @param registers whether it is a REGISTER: calls then come over the connection, so it stays */
  message(registers: boolean): void {
    this.#messageAt = Date.now();
    this.#stays ||= registers;
  }

  /** Whether a REGISTER has passed. */
  get registers(): boolean {
    return this.#stays;
  }

  pong(): void {
    this.#answers = true;
    clearTimeout(this.#missing);
    this.#missing = undefined;
  }

  end(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#missing);
  }

  #tick(): void {
    if (!this.#stays && Date.now() - this.#messageAt >= this.#times.idle) this.#connection.idle();
    else {
      this.#connection.ping();
      if (this.#answers) this.#missing ??= setTimeout(() => this.#connection.dead(), this.#times.answer).unref();
    }
  }
}
