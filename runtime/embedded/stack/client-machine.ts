/** Common base of the client transactions. */
import type { TransitionTable } from '../../transitions/index.ts';
import { type SipFailureReason, SipTransportError } from './errors.ts';
import type { SipRequest, SipResponse } from './message.ts';
import type { Timer, Timers, TimerValues } from './timers.ts';
import { type Channel, type ClientTransactionUser, Transaction } from './transaction.ts';

/** Parts of a client transaction. */
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

/** Common base of the client transactions of RFC 3261 section 17.1: sending, retransmission, timeout, end. */
export abstract class ClientMachine<State extends string, Event extends string> extends Transaction<
  State,
  Event | 'transportError'
> {
  readonly request: SipRequest;
  protected readonly channel: Channel;
  protected readonly timers: Timers;
  protected readonly values: TimerValues;
  protected readonly user: ClientTransactionUser;
  /** Time to the next retransmission, ms. */
  protected interval: number;
  protected timeout: Timer | undefined;
  /** The request's bytes; undefined once it is not sent again. */
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

  /** Drops the transaction without a report to its user. */
  dispose(): void {
    this.abandon();
    this.stop();
  }

  /** Sends the request for the first time. `again` is called when the first retransmission is due. */
  protected begin(giveUp: () => void, again: () => void): void {
    this.timeout = this.timers.set(64 * this.values.t1, giveUp);
    if (!this.channel.reliable) this.#retransmit = this.timers.set(this.interval, again);
    if (this.#data !== undefined) this.channel.send(this.#data);
  }

  /** Retransmits the request, and sets the next retransmission after `interval`. */
  protected repeat(again: () => void): void {
    this.#retransmit = this.timers.set(this.interval, again);
    if (this.#data === undefined) return;
    if (this.channel.resend !== undefined) this.channel.resend(this.#data);
    else this.channel.send(this.#data);
  }

  /** Ends the transaction without a final response. */
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
