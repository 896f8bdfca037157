/** A client transaction, as its user sees it. */
import { InviteClientTransaction } from './invite-client.ts';
import { copyOf, type SipRequest, type SipResponse } from './message.ts';
import type { NonInviteClientTransaction } from './non-invite-client.ts';
import type { Destination, ListeningPoint } from './transport.ts';
import type { SipTransportError } from './errors.ts';

/** Receives the responses to a request. */
export interface ClientUser {
  /**
   * Provisional responses (100 included) and the final one. A forked INVITE may bring several 2xx, one for each To tag;
   * their retransmissions are answered with the ACK that was sent for that tag and not reported again.
   */
  response(response: SipResponse): void;
  /** No final response will come. */
  failed(error: SipTransportError): void;
  /** The transaction is over. */
  terminated?(): void;
  /** The host name of the destination has been looked up; the request is sent next. */
  readonly resolved?: ((destination: Destination) => void) | undefined;
  /** Set by a proxy: every 2xx is reported, retransmissions included, because the ACK is not sent here. */
  readonly everySuccess?: boolean;
}

/** Via, and the headers of an INVITE that the state of its dialogs comes from (RFC 3261 section 12.1.2). */
const OF_DIALOG = new Set(['via', 'route', 'from', 'to', 'call-id', 'cseq']);

/** Services of the endpoint for a client transaction. @internal */
export interface ClientTransactionEndpoint {
  cancel(transaction: ClientTransaction, headers: readonly (readonly [string, string])[]): SipRequest | undefined;
}

/** A sent request and its transaction. Created by the endpoint. */
export class ClientTransaction {
  /** The request with its Via. */
  readonly request: SipRequest;
  readonly branch: string;
  #destination: Destination;
  #local: ListeningPoint;
  #wireSize: number;
  readonly #endpoint: ClientTransactionEndpoint;
  readonly #user: ClientUser;
  #machine: InviteClientTransaction | NonInviteClientTransaction | undefined;
  /** To tags of the received 2xx. The value repeats their ACK, once it was sent. */
  readonly #successes = new Map<string, (() => void) | undefined>();
  #held: SipRequest | undefined;
  #cancelled = false;
  #sendHeld: ((cancel: SipRequest) => void) | undefined;

  /** @internal */
  constructor(
    endpoint: ClientTransactionEndpoint,
    request: SipRequest,
    branch: string,
    destination: Destination,
    local: ListeningPoint,
    wireSize: number,
    user: ClientUser,
  ) {
    this.#endpoint = endpoint;
    this.request = request;
    this.branch = branch;
    this.#destination = destination;
    this.#local = local;
    this.#wireSize = wireSize;
    this.#user = user;
  }

  /** Where the request goes: an IP address once it has been sent. */
  get destination(): Destination {
    return this.#destination;
  }

  get local(): ListeningPoint {
    return this.#local;
  }

  /** Size of the request on the wire, bytes. */
  get wireSize(): number {
    return this.#wireSize;
  }

  get state(): string {
    return this.#machine?.state ?? 'trying';
  }

  /**
   * Cancels an INVITE (RFC 3261 section 9.1). The CANCEL is sent now or, before any response, with the first
   * provisional response. The INVITE's final response still comes to `response`.
   * @returns the CANCEL, or `undefined` if the INVITE already has a final response.
   */
  cancel(headers: readonly (readonly [string, string])[] = []): SipRequest | undefined {
    const cancel = this.#endpoint.cancel(this, headers);
    if (cancel !== undefined) this.#cancelled = true;
    return cancel;
  }

  /** Whether it was cancelled before its final response. That response may still be a 2xx that crossed the CANCEL. */
  get cancelled(): boolean {
    return this.#cancelled;
  }

  /** @internal The host name of the destination has an address. @param prepare completes the request; returns its bytes */
  resolve(destination: Destination, local: ListeningPoint, prepare: () => Buffer): Buffer {
    this.#destination = destination;
    this.#local = local;
    this.#user.resolved?.(destination);
    const data = prepare();
    this.#wireSize = data.length;
    return data;
  }

  /** @internal @param ringing whether the INVITE was sent before, and has a provisional response */
  run(machine: InviteClientTransaction | NonInviteClientTransaction, ringing: boolean): void {
    this.#machine = machine;
    if (ringing && machine instanceof InviteClientTransaction) machine.resume();
    else machine.start();
  }

  /** @internal The machine reports a response. */
  deliver(response: SipResponse): void {
    const { status } = response;
    if (status < 200 && this.#held !== undefined) {
      this.#sendHeld?.(this.#held);
      this.#held = undefined;
    } else if (status >= 200) this.#held = undefined;
    if (status >= 200 && status < 300 && this.request.method === 'INVITE' && this.#user.everySuccess !== true) {
      const tag = response.toTag ?? '';
      if (this.#successes.has(tag)) {
        this.#successes.get(tag)?.();
        return;
      }
      // A substring would keep the whole response in memory.
      this.#successes.set(copyOf(tag), undefined);
    }
    this.#user.response(response);
  }

  /** @internal */
  fail(error: SipTransportError): void {
    this.#user.failed(error);
  }

  /** @internal */
  ended(): void {
    this.#user.terminated?.();
  }

  /** @internal Remembers how to repeat the ACK of the 2xx with that To tag. */
  acknowledged(toTag: string, repeat: () => void): void {
    this.#successes.set(toTag, repeat);
  }

  /** @internal Holds a CANCEL until a provisional response comes. */
  hold(cancel: SipRequest, send: (cancel: SipRequest) => void): void {
    this.#held = cancel;
    this.#sendHeld = send;
  }

  /** @internal */
  expectFinal(): void {
    if (this.#machine instanceof InviteClientTransaction) this.#machine.expectFinal();
  }

  /** @internal */
  receive(response: SipResponse): void {
    this.#machine?.receive(response);
  }

  /** @internal */
  transportFailed(error: SipTransportError): void {
    this.#machine?.transportFailed(error);
  }

  /** @internal Frees the request, but keeps the headers for an INVITE's ACK and for dialogs with further forks. */
  freeMemory(): void {
    if (this.request.method === 'INVITE') this.request.keepOnly(OF_DIALOG);
    else this.request.freeMemory();
  }

  /** @internal */
  dispose(): void {
    this.#machine?.dispose();
  }
}
