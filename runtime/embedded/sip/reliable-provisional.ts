import type { Timer, Timers, TimerValues } from '../stack/index.ts';

/** Repeats a reliable provisional response until its PRACK (RFC 3262 section 3). */
export class ReliableProvisional {
  readonly rseq: number;
  readonly inviteSeq: number;
  readonly #timers: Timers;
  readonly #send: () => void;
  #interval: number;
  #next: Timer | undefined;
  #limit: Timer | undefined;

  /** @param missing called after 64*T1 without PRACK; it has to reject the INVITE with a 5xx. */
  constructor(
    rseq: number,
    inviteSeq: number,
    timers: Timers,
    values: TimerValues,
    send: () => void,
    missing: () => void,
  ) {
    this.rseq = rseq;
    this.inviteSeq = inviteSeq;
    this.#timers = timers;
    this.#send = send;
    this.#interval = values.t1;
    this.#next = timers.set(this.#interval, () => this.#again());
    this.#limit = timers.set(64 * values.t1, () => {
      this.stop();
      missing();
    });
  }

  /** Whether a RAck value (`rseq cseq method`) acknowledges this response. */
  matches(rack: string): boolean {
    const [rseq, cseq, method] = rack.trim().split(/\s+/);
    return Number(rseq) === this.rseq && Number(cseq) === this.inviteSeq && method === 'INVITE';
  }

  /** Stops repeating: the PRACK came, or the INVITE has its final response. */
  stop(): void {
    this.#next?.cancel();
    this.#limit?.cancel();
    this.#next = undefined;
    this.#limit = undefined;
  }

  /** The interval doubles without the cap T2 (section 3). */
  #again(): void {
    this.#interval *= 2;
    this.#next = this.#timers.set(this.#interval, () => this.#again());
    this.#send();
  }
}
