import { StateMachine, type TransitionTable } from '../../transitions/index.ts';
import type { SipTransportError } from './errors.ts';
import type { SipResponse } from './message.ts';

/** Where a transaction sends to. Delivery problems are reported to the transaction by the endpoint. */
export interface Channel {
  /** Whether retransmission is the transport's business (TCP). */
  readonly reliable: boolean;
  send(data: Buffer): void;
  /**
   * Sends a retransmission: over UDP in a way that learns of "port unreachable", whatever the peer sent just before.
   * Falls back to `send`.
   */
  resend?(data: Buffer): void;
  /** The transaction needs the channel no longer. */
  release?(): void;
}

/** What all transactions are: a state that changes along the table of the transaction until it is dropped. */
export abstract class Transaction<State extends string, Event extends string> {
  readonly #machine: StateMachine<State | 'terminated', Event>;
  #dropped = false;

  constructor(table: TransitionTable<State | 'terminated', Event>, initial: State) {
    this.#machine = new StateMachine(table, initial);
  }

  get state(): State | 'terminated' {
    return this.#dropped ? 'terminated' : this.#machine.state;
  }

  /** Drops the transaction: no event counts any more. */
  protected abandon(): void {
    this.#dropped = true;
  }

  /** Takes an event. Returns the state it was taken in, or `undefined` if that state ignores it. */
  protected step(event: Event): State | 'terminated' | undefined {
    return this.#dropped ? undefined : this.#machine.step(event);
  }
}

/** What a client transaction tells its user. */
export interface ClientTransactionUser {
  /** Provisional responses and the first final one; for INVITE also every 2xx that follows (RFC 6026 section 8.4). */
  response(response: SipResponse): void;
  /** No answer: timeout or a network error. The transaction is over. */
  failed(error: SipTransportError): void;
  /** The transaction is over and can be forgotten. Comes once, after everything else. */
  terminated(): void;
}

/** What a server transaction tells its user. */
export interface ServerTransactionUser {
  /** No ACK came for a final response other than 2xx (timer H). */
  ackMissing?(): void;
  terminated(): void;
}
