/** Common base of all SIP transactions. */
import { StateMachine, type TransitionTable } from '../../transitions/index.ts';
import type { SipTransportError } from './errors.ts';
import type { SipResponse } from './message.ts';

/** The sending side of a transaction. The endpoint reports delivery problems to the transaction. */
export interface Channel {
  /** Whether the transport retransmits (TCP). */
  readonly reliable: boolean;
  send(data: Buffer): void;
  /**
   * Sends a retransmission. Over UDP it always uses a connected socket, which learns of ICMP "port unreachable". Left
   * out, `send` is used.
   */
  resend?(data: Buffer): void;
  /** Ends the use of the channel by the transaction. */
  release?(): void;
}

/** Base of all transactions: a state that changes along the transaction's table until it is dropped. */
export abstract class Transaction<State extends string, Event extends string> {
  readonly #machine: StateMachine<State | 'terminated', Event>;
  #dropped = false;

  constructor(table: TransitionTable<State | 'terminated', Event>, initial: State) {
    this.#machine = new StateMachine(table, initial);
  }

  get state(): State | 'terminated' {
    return this.#dropped ? 'terminated' : this.#machine.state;
  }

  /** Drops the transaction; later events are ignored. */
  protected abandon(): void {
    this.#dropped = true;
  }

  /** Takes an event. Returns the state before it, or `undefined` if that state ignores the event. */
  protected step(event: Event): State | 'terminated' | undefined {
    return this.#dropped ? undefined : this.#machine.step(event);
  }
}

/** Events of a client transaction. */
export interface ClientTransactionUser {
  /** Provisional responses and the first final one; for INVITE also every 2xx that follows (RFC 6026 section 8.4). */
  response(response: SipResponse): void;
  /** No final response: timeout or network error. The transaction has ended. */
  failed(error: SipTransportError): void;
  /** The transaction has ended. Called once, after all other events. */
  terminated(): void;
}

/** Events of a server transaction. */
export interface ServerTransactionUser {
  /** No ACK came for a final response other than 2xx (timer H). */
  ackMissing?(): void;
  terminated(): void;
}
