import type { TransitionTable } from '../../transitions/index.ts';
import { type SipFailureReason, SipTransportError } from './errors.ts';
import type { SipRequest, SipResponse } from './message.ts';
import type { Timer, Timers, TimerValues } from './timers.ts';
import { type Channel, type ClientTransactionUser, Transaction } from './transaction.ts';

/** What every client transaction is made of. */
export interface ClientMachineParts {
  readonly request: SipRequest;
  /** The request's bytes. */
  readonly data: Buffer;
  /** `transport/host:port` of the peer, for errors. */
  readonly target: string;
  readonly channel: Channel;
  readonly timers: Timers;
  readonly values: TimerValues;
  readonly user: ClientTransactionUser;
}

/** What the two client transactions of RFC 3261 section 17.1 share: sending, sending again, giving up, ending. */
export abstract class ClientMachine<State extends string, Event extends string> extends Transaction<
  State,
  Event | 'transportError'
> {
  readonly request: SipRequest;
  protected readonly channel: Channel;
  protected readonly timers: Timers;
  protected readonly values: TimerValues;
  protected readonly user: ClientTransactionUser;
  /** Until the next retransmission, ms. */
  protected interval: number;
  protected timeout: Timer | undefined;
  /** Undefined when it is not sent again. */
  #data: Buffer | undefined;
  readonly #target: string;
  #retransmit: Timer | undefined;

  constructor(
    parts: ClientMachineParts,
    table: TransitionTable<State | 'terminated', Event | 'transportError'>,
    initial: State,
  ) {
    super(table, initial);
    this.request = parts.request;
    this.channel = parts.channel;
    this.timers = parts.timers;
    this.values = parts.values;
    this.user = parts.user;
    this.interval = parts.values.t1;
    this.#data = parts.data;
    this.#target = parts.target;
  }

  abstract receive(response: SipResponse): void;

  transportFailed(error: SipTransportError): void {
    const from = this.step('transportError');
    if (from === undefined) return;
    this.stop();
    if (from !== 'completed') this.user.failed(error);
    this.user.terminated();
  }

  /** Drops the transaction without telling anyone. */
  dispose(): void {
    this.abandon();
    this.stop();
  }

  /** Sends the request for the first time; `again` is called when it is due once more. */
  protected begin(giveUp: () => void, again: () => void): void {
    this.timeout = this.timers.set(64 * this.values.t1, giveUp);
    if (!this.channel.reliable) this.#retransmit = this.timers.set(this.interval, again);
    if (this.#data !== undefined) this.channel.send(this.#data);
  }

  /** Sends the request again, and the next time after `interval`. */
  protected repeat(again: () => void): void {
    this.#retransmit = this.timers.set(this.interval, again);
    if (this.#data === undefined) return;
    if (this.channel.resend !== undefined) this.channel.resend(this.#data);
    else this.channel.send(this.#data);
  }

  /** No final response will come. */
  protected fail(reason: SipFailureReason): void {
    this.stop();
    this.user.failed(new SipTransportError(reason, this.#target));
    this.user.terminated();
  }

  protected end(): void {
    this.stop();
    this.user.terminated();
  }

  protected stop(): void {
    this.#retransmit?.cancel();
    this.timeout?.cancel();
    this.#retransmit = undefined;
    this.timeout = undefined;
    this.#data = undefined;
  }
}
