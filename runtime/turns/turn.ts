/** Messages of one turn of the event loop leave together (docs/decisions/0055-others-are-woken-once-a-turn.md). */
import type { Writable } from 'node:stream';

/** Messages that wait at most: the receiver works on these while the sender goes on with a long turn. */
const MOST_WAITING = 8;

/** Holds back messages until all events of this turn of the event loop are handled, or eight wait: to wake the receiver costs more than most. */
export class Turn {
  readonly #hold: (() => void) | undefined;
  readonly #release: () => void;
  readonly #most: number;
  #waiting = 0;

  /**
   * @param release sends what waits
   * @param options.hold called before the first message
   * @param options.most messages that wait at most; Infinity for a connection that waits for one answer
   */
  constructor(release: () => void, options: { readonly hold?: () => void; readonly most?: number } = {}) {
    this.#release = release;
    this.#hold = options.hold;
    this.#most = options.most ?? MOST_WAITING;
  }

  /** True while messages wait. */
  get holds(): boolean {
    return this.#waiting > 0;
  }

  /** @param message adds a message to those that wait */
  add<Result>(message: () => Result): Result {
    if (this.#waiting === 0) {
      this.#hold?.();
      setImmediate(() => this.end());
    }
    this.#waiting += 1;
    const result = message();
    if (this.#waiting >= this.#most) this.end();
    return result;
  }

  /** Sends what waits now. */
  end(): void {
    if (this.#waiting === 0) return;
    this.#waiting = 0;
    this.#release();
  }
}

/**
 * Holds back what is written to a socket.
 * @param most messages that wait at most
 */
export function corkedTurn(socket: Pick<Writable, 'cork' | 'uncork'>, most?: number): Turn {
  return new Turn(() => socket.uncork(), { hold: () => socket.cork(), ...(most !== undefined && { most }) });
}
