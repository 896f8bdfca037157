/** Server transactions of other methods than INVITE. */
import type { TransitionTable } from '../../transitions/index.ts';
import type { Timer, Timers, TimerValues } from './timers.ts';
import { type Channel, type ServerTransactionUser, Transaction } from './transaction.ts';

export type NonInviteServerState = 'trying' | 'proceeding' | 'completed' | 'terminated';
export type NonInviteServerEvent = 'request' | 'sendProvisional' | 'sendFinal' | 'timerJ' | 'abandoned';

/**
 * RFC 3261 figure 8, and the event `abandoned`: after 64*T1 the client has given up (its timer F), so a transaction
 * without an answer is dropped.
 */
const NON_INVITE_SERVER_TRANSITIONS: TransitionTable<NonInviteServerState, NonInviteServerEvent> = {
  trying: { request: 'trying', sendProvisional: 'proceeding', sendFinal: 'completed', abandoned: 'terminated' },
  proceeding: {
    request: 'proceeding',
    sendProvisional: 'proceeding',
    sendFinal: 'completed',
    abandoned: 'terminated',
  },
  completed: { request: 'completed', timerJ: 'terminated' },
  terminated: {},
};

/** Server transaction for every method but INVITE and ACK (RFC 3261 section 17.2.2). */
export class NonInviteServerTransaction extends Transaction<NonInviteServerState, NonInviteServerEvent> {
  readonly #channel: Channel;
  readonly #timers: Timers;
  readonly #values: TimerValues;
  readonly #user: ServerTransactionUser;
  /** The last response, kept for 32 s as text: a small Buffer keeps its whole pool of 64 KB in memory. */
  #last: string | undefined;
  #timeout: Timer | undefined;

  constructor(channel: Channel, timers: Timers, values: TimerValues, user: ServerTransactionUser) {
    super(NON_INVITE_SERVER_TRANSITIONS, 'trying');
    this.#channel = channel;
    this.#timers = timers;
    this.#values = values;
    this.#user = user;
    this.#timeout = timers.set(64 * values.t1, () => this.#end('abandoned'));
  }

  /** Takes a retransmission of the request. */
  receiveRetransmission(): void {
    const from = this.step('request');
    if (from === undefined || from === 'trying' || this.#last === undefined) return;
    this.#channel.send(Buffer.from(this.#last, 'latin1'));
  }

  /**
   * Sends a response.
   * @returns false when a final response was sent before.
   */
  send(status: number, data: Buffer): boolean {
    const event = status < 200 ? 'sendProvisional' : 'sendFinal';
    if (this.step(event) === undefined) return false;
    this.#last = data.toString('latin1');
    if (event === 'sendFinal') {
      this.#timeout?.cancel();
      this.#timeout = this.#timers.set(this.#channel.reliable ? 0 : 64 * this.#values.t1, () => this.#end('timerJ'));
    }
    this.#channel.send(data);
    return true;
  }

  /** Drops the transaction without a report to its user. */
  dispose(): void {
    this.abandon();
    this.#timeout?.cancel();
    this.#timeout = undefined;
  }

  #end(event: 'timerJ' | 'abandoned'): void {
    if (this.step(event) === undefined) return;
    this.#timeout = undefined;
    this.#user.terminated();
  }
}
