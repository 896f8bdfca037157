/** INVITE server transactions. */
import type { TransitionTable } from '../../transitions/index.ts';
import type { Timer, Timers, TimerValues } from './timers.ts';
import { type Channel, type ServerTransactionUser, Transaction } from './transaction.ts';

export type InviteServerState = 'proceeding' | 'accepted' | 'completed' | 'confirmed' | 'terminated';
export type InviteServerEvent =
  | 'request'
  | 'ack'
  | 'sendProvisional'
  | 'sendSuccess'
  | 'sendFailure'
  | 'timerG'
  | 'timerH'
  | 'timerI'
  | 'timerL';

/** RFC 3261 figure 7 with the Accepted state of RFC 6026 section 7.1. */
const INVITE_SERVER_TRANSITIONS: TransitionTable<InviteServerState, InviteServerEvent> = {
  proceeding: {
    request: 'proceeding',
    sendProvisional: 'proceeding',
    sendSuccess: 'accepted',
    sendFailure: 'completed',
  },
  accepted: { request: 'accepted', sendSuccess: 'accepted', timerL: 'terminated' },
  completed: { request: 'completed', ack: 'confirmed', timerG: 'completed', timerH: 'terminated' },
  confirmed: { request: 'confirmed', ack: 'confirmed', timerI: 'terminated' },
  terminated: {},
};

/** INVITE server transaction (RFC 3261 section 17.2.1, RFC 6026 section 8.5). */
export class InviteServerTransaction extends Transaction<InviteServerState, InviteServerEvent> {
  readonly #channel: Channel;
  readonly #timers: Timers;
  readonly #values: TimerValues;
  readonly #user: ServerTransactionUser;
  #last: Buffer | undefined;
  #retransmit: Timer | undefined;
  #timeout: Timer | undefined;
  #interval: number;

  constructor(channel: Channel, timers: Timers, values: TimerValues, user: ServerTransactionUser) {
    super(INVITE_SERVER_TRANSITIONS, 'proceeding');
    this.#channel = channel;
    this.#timers = timers;
    this.#values = values;
    this.#user = user;
    this.#interval = values.t1;
  }

  /** Takes a retransmission of the INVITE. */
  receiveRetransmission(): void {
    const from = this.step('request');
    // In Accepted the UAS core repeats the 2xx; in Confirmed the ACK has come.
    if ((from === 'proceeding' || from === 'completed') && this.#last !== undefined) this.#channel.send(this.#last);
  }

  /** Takes the ACK of a response other than 2xx. */
  receiveAck(): void {
    if (this.step('ack') !== 'completed') return;
    this.#stop();
    this.#timeout = this.#timers.set(this.#channel.reliable ? 0 : this.#values.t4, () => this.#end('timerI'));
  }

  /**
   * Sends a response.
   * @returns false when a final response was sent before.
   */
  send(status: number, data: Buffer): boolean {
    const event = status < 200 ? 'sendProvisional' : status < 300 ? 'sendSuccess' : 'sendFailure';
    const from = this.step(event);
    if (from === undefined) return false;
    // The UAS core, not the transaction, repeats a 2xx.
    this.#last = event === 'sendSuccess' ? undefined : data;
    if (event === 'sendSuccess' && from === 'proceeding') {
      this.#timeout = this.#timers.set(64 * this.#values.t1, () => this.#end('timerL'));
    } else if (event === 'sendFailure') {
      this.#timeout = this.#timers.set(64 * this.#values.t1, () => this.#end('timerH'));
      if (!this.#channel.reliable) this.#retransmit = this.#timers.set(this.#interval, () => this.#timerG());
    }
    this.#channel.send(data);
    return true;
  }

  /** Drops the transaction without a report to its user. */
  dispose(): void {
    this.abandon();
    this.#stop();
  }

  #timerG(): void {
    if (this.step('timerG') === undefined || this.#last === undefined) return;
    this.#interval = Math.min(2 * this.#interval, this.#values.t2);
    this.#retransmit = this.#timers.set(this.#interval, () => this.#timerG());
    this.#channel.send(this.#last);
  }

  #end(event: 'timerH' | 'timerI' | 'timerL'): void {
    if (this.step(event) === undefined) return;
    this.#stop();
    if (event === 'timerH') this.#user.ackMissing?.();
    this.#user.terminated();
  }

  #stop(): void {
    this.#retransmit?.cancel();
    this.#timeout?.cancel();
    this.#retransmit = undefined;
    this.#timeout = undefined;
  }
}
