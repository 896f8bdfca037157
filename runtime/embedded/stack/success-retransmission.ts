/** Retransmission of a 2xx to INVITE. */
import type { Timer, Timers, TimerValues } from './timers.ts';

/**
 * Repeats a 2xx to INVITE until its ACK comes, over any transport (RFC 3261 section 13.3.1.4).
 */
export class SuccessRetransmission {
  readonly #timers: Timers;
  readonly #values: TimerValues;
  readonly #send: () => void;
  #interval: number;
  #next: Timer | undefined;
  #limit: Timer | undefined;

  /** @param ackMissing called after 64*T1 without ACK; it should end the dialog with BYE. */
  constructor(timers: Timers, values: TimerValues, send: () => void, ackMissing: () => void) {
    this.#timers = timers;
    this.#values = values;
    this.#send = send;
    this.#interval = values.t1;
    this.#next = timers.set(this.#interval, () => this.#again());
    this.#limit = timers.set(64 * values.t1, () => {
      this.stop();
      ackMissing();
    });
  }

  /** Stops repeating: the ACK came, or the dialog has ended. */
  stop(): void {
    this.#next?.cancel();
    this.#limit?.cancel();
    this.#next = undefined;
    this.#limit = undefined;
  }

  #again(): void {
    this.#interval = Math.min(2 * this.#interval, this.#values.t2);
    this.#next = this.#timers.set(this.#interval, () => this.#again());
    this.#send();
  }
}
