import type { SipTransportError } from './errors.ts';
import type { SipResponse } from './message.ts';

/** Which event leads from which state to which; events that a state does not list are ignored there. */
export type TransitionTable<State extends string, Event extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Event, State>>>>
>;

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

/** A state that changes only along its table. */
export abstract class StateMachine<State extends string, Event extends string> {
  #state: State;
  readonly #table: TransitionTable<State, Event>;

  constructor(table: TransitionTable<State, Event>, initial: State) {
    this.#table = table;
    this.#state = initial;
  }

  get state(): State {
    return this.#state;
  }

  /** Drops the transaction: no event counts any more. */
  protected abandon(this: StateMachine<State | 'terminated', Event>): void {
    this.#state = 'terminated';
  }

  /** Takes an event. Returns the state it was taken in, or `undefined` if that state ignores it. */
  protected step(event: Event): State | undefined {
    const from = this.#state;
    const next = this.#table[from][event];
    if (next === undefined) return undefined;
    this.#state = next;
    return from;
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
