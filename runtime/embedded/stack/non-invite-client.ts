import { SipTransportError } from './errors.ts';
import type { SipRequest, SipResponse } from './message.ts';
import type { Timer, Timers, TimerValues } from './timers.ts';
import { type Channel, type ClientTransactionUser, StateMachine, type TransitionTable } from './transaction.ts';

export type NonInviteClientState = 'trying' | 'proceeding' | 'completed' | 'terminated';
export type NonInviteClientEvent = 'provisional' | 'final' | 'timerE' | 'timerF' | 'timerK' | 'transportError';

/** RFC 3261 figure 6. */
export const NON_INVITE_CLIENT_TRANSITIONS: TransitionTable<NonInviteClientState, NonInviteClientEvent> = {
  trying: {
    provisional: 'proceeding',
    final: 'completed',
    timerE: 'trying',
    timerF: 'terminated',
    transportError: 'terminated',
  },
  proceeding: {
    provisional: 'proceeding',
    final: 'completed',
    timerE: 'proceeding',
    timerF: 'terminated',
    transportError: 'terminated',
  },
  completed: { timerK: 'terminated' },
  terminated: {},
};

/** Client transaction for every method but INVITE and ACK (RFC 3261 section 17.1.2). */
export class NonInviteClientTransaction extends StateMachine<NonInviteClientState, NonInviteClientEvent> {
  readonly request: SipRequest;
  readonly #data: Buffer;
  readonly #target: string;
  readonly #channel: Channel;
  readonly #timers: Timers;
  readonly #values: TimerValues;
  readonly #user: ClientTransactionUser;
  #retransmit: Timer | undefined;
  #timeout: Timer | undefined;
  #interval: number;

  constructor(
    request: SipRequest,
    data: Buffer,
    target: string,
    channel: Channel,
    timers: Timers,
    values: TimerValues,
    user: ClientTransactionUser,
  ) {
    super(NON_INVITE_CLIENT_TRANSITIONS, 'trying');
    this.request = request;
    this.#data = data;
    this.#target = target;
    this.#channel = channel;
    this.#timers = timers;
    this.#values = values;
    this.#user = user;
    this.#interval = values.t1;
  }

  /** Sends the request. */
  start(): void {
    this.#timeout = this.#timers.set(64 * this.#values.t1, () => this.#timerF());
    if (!this.#channel.reliable) this.#retransmit = this.#timers.set(this.#interval, () => this.#timerE());
    this.#channel.send(this.#data);
  }

  receive(response: SipResponse): void {
    const event = response.status < 200 ? 'provisional' : 'final';
    if (this.step(event) === undefined) return;
    if (event === 'final') {
      this.#stop();
      this.#user.response(response);
      this.#timeout = this.#timers.set(this.#channel.reliable ? 0 : this.#values.t4, () => this.#timerK());
      return;
    }
    this.#user.response(response);
  }

  transportFailed(error: SipTransportError): void {
    if (this.step('transportError') === undefined) return;
    this.#stop();
    this.#user.failed(error);
    this.#user.terminated();
  }

  /** Drops the transaction without telling anyone. */
  dispose(): void {
    this.abandon();
    this.#stop();
  }

  #timerE(): void {
    const from = this.step('timerE');
    if (from === undefined) return;
    this.#interval = from === 'proceeding' ? this.#values.t2 : Math.min(2 * this.#interval, this.#values.t2);
    this.#retransmit = this.#timers.set(this.#interval, () => this.#timerE());
    if (this.#channel.resend !== undefined) this.#channel.resend(this.#data);
    else this.#channel.send(this.#data);
  }

  #timerF(): void {
    if (this.step('timerF') === undefined) return;
    this.#stop();
    this.#user.failed(new SipTransportError('timeout', this.#target));
    this.#user.terminated();
  }

  #timerK(): void {
    if (this.step('timerK') === undefined) return;
    this.#stop();
    this.#user.terminated();
  }

  #stop(): void {
    this.#retransmit?.cancel();
    this.#timeout?.cancel();
    this.#retransmit = undefined;
    this.#timeout = undefined;
  }
}
