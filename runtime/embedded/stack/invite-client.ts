import { SipTransportError } from './errors.ts';
import type { SipRequest, SipResponse } from './message.ts';
import type { Timer, Timers, TimerValues } from './timers.ts';
import { type Channel, type ClientTransactionUser, StateMachine, type TransitionTable } from './transaction.ts';

export type InviteClientState = 'calling' | 'proceeding' | 'completed' | 'accepted' | 'terminated';
export type InviteClientEvent =
  | 'provisional'
  | 'success'
  | 'failure'
  | 'timerA'
  | 'timerB'
  | 'timerD'
  | 'timerM'
  | 'transportError';

/** RFC 3261 figure 5 with the Accepted state of RFC 6026 section 7.2. */
export const INVITE_CLIENT_TRANSITIONS: TransitionTable<InviteClientState, InviteClientEvent> = {
  calling: {
    provisional: 'proceeding',
    success: 'accepted',
    failure: 'completed',
    timerA: 'calling',
    timerB: 'terminated',
    transportError: 'terminated',
  },
  proceeding: {
    provisional: 'proceeding',
    success: 'accepted',
    failure: 'completed',
    // Only set once a CANCEL was sent: RFC 3261 section 9.1, last paragraph.
    timerB: 'terminated',
    transportError: 'terminated',
  },
  completed: { failure: 'completed', timerD: 'terminated', transportError: 'terminated' },
  accepted: { success: 'accepted', timerM: 'terminated' },
  terminated: {},
};

/** INVITE client transaction (RFC 3261 section 17.1.1, RFC 6026 section 8.4). */
export class InviteClientTransaction extends StateMachine<InviteClientState, InviteClientEvent> {
  readonly request: SipRequest;
  readonly #data: Buffer;
  readonly #target: string;
  readonly #channel: Channel;
  readonly #timers: Timers;
  readonly #values: TimerValues;
  readonly #user: ClientTransactionUser;
  readonly #ackFor: (response: SipResponse) => Buffer;
  #ack: Buffer | undefined;
  #retransmit: Timer | undefined;
  #timeout: Timer | undefined;
  #interval: number;

  /**
   * @param data the INVITE's bytes.
   * @param ackFor builds the ACK for a final response other than 2xx (section 17.1.1.3).
   */
  constructor(
    request: SipRequest,
    data: Buffer,
    target: string,
    channel: Channel,
    timers: Timers,
    values: TimerValues,
    user: ClientTransactionUser,
    ackFor: (response: SipResponse) => Buffer,
  ) {
    super(INVITE_CLIENT_TRANSITIONS, 'calling');
    this.request = request;
    this.#data = data;
    this.#target = target;
    this.#channel = channel;
    this.#timers = timers;
    this.#values = values;
    this.#user = user;
    this.#ackFor = ackFor;
    this.#interval = values.t1;
  }

  /** Sends the INVITE. */
  start(): void {
    this.#timeout = this.#timers.set(64 * this.#values.t1, () => this.#timerB());
    if (!this.#channel.reliable) this.#retransmit = this.#timers.set(this.#interval, () => this.#timerA());
    this.#channel.send(this.#data);
  }

  receive(response: SipResponse): void {
    const event = response.status < 200 ? 'provisional' : response.status < 300 ? 'success' : 'failure';
    const from = this.step(event);
    if (from === undefined) return;
    if (from === 'completed') {
      this.#sendAck(response);
      return;
    }
    if (from === 'calling') this.#stop();
    if (event === 'failure') {
      this.#stop();
      this.#sendAck(response);
      // Terminated only after the user saw the response.
      this.#user.response(response);
      this.#timeout = this.#timers.set(this.#channel.reliable ? 0 : this.#values.d, () => this.#end('timerD'));
      return;
    }
    if (event === 'success' && from !== 'accepted') {
      this.#stop();
      this.#timeout = this.#timers.set(64 * this.#values.t1, () => this.#end('timerM'));
    }
    this.#user.response(response);
  }

  /** After a CANCEL: if no final response comes within 64*T1 the INVITE counts as cancelled (section 9.1). */
  expectFinal(): void {
    if (this.state !== 'proceeding' || this.#timeout !== undefined) return;
    this.#timeout = this.#timers.set(64 * this.#values.t1, () => this.#timerB());
  }

  transportFailed(error: SipTransportError): void {
    const from = this.step('transportError');
    if (from === undefined) return;
    this.#stop();
    if (from !== 'completed') this.#user.failed(error);
    this.#user.terminated();
  }

  /** Drops the transaction without telling anyone. */
  dispose(): void {
    this.abandon();
    this.#stop();
  }

  #timerA(): void {
    if (this.step('timerA') === undefined) return;
    this.#interval *= 2;
    this.#retransmit = this.#timers.set(this.#interval, () => this.#timerA());
    if (this.#channel.resend !== undefined) this.#channel.resend(this.#data);
    else this.#channel.send(this.#data);
  }

  #timerB(): void {
    if (this.step('timerB') === undefined) return;
    this.#stop();
    this.#user.failed(new SipTransportError('timeout', this.#target));
    this.#user.terminated();
  }

  #end(event: 'timerD' | 'timerM'): void {
    if (this.step(event) === undefined) return;
    this.#stop();
    this.#user.terminated();
  }

  #sendAck(response: SipResponse): void {
    this.#ack ??= this.#ackFor(response);
    this.#channel.send(this.#ack);
  }

  #stop(): void {
    this.#retransmit?.cancel();
    this.#timeout?.cancel();
    this.#retransmit = undefined;
    this.#timeout = undefined;
  }
}
