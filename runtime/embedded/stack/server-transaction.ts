import { InviteServerTransaction } from './invite-server.ts';
import { copyOf, type SipRequest, type SipResponse } from './message.ts';
import { NonInviteServerTransaction } from './non-invite-server.ts';
import { responseTo } from './responses.ts';
import type { Timer, Timers, TimerValues } from './timers.ts';
import { token } from './tokens.ts';
import type { Channel, ServerTransactionUser } from './transaction.ts';
import type { Source } from './transport.ts';

/** What {@link ServerTransaction.reply} adds to a response. */
export interface ReplyOptions {
  /** Reason phrase, if not the usual one. */
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Buffer | string;
}

/** A request that came in, and its answers. Made by the endpoint. */
export class ServerTransaction {
  readonly request: SipRequest;
  readonly source: Source;
  /**
   * This side's tag: the request's To tag, or a new one that goes into every response but 100. May be replaced before
   * the first of those.
   */
  localTag: string;
  /** Whether the request came with a To tag, i.e. claims to belong to a dialog. */
  readonly inDialog: boolean;
  /**
   * Set by a user that answers a cancelled INVITE itself (a proxy). Otherwise the endpoint answers it with 487.
   */
  onCancel: ((cancel: SipRequest) => void) | undefined;
  /** Called when the transaction is over. */
  onTerminated: (() => void) | undefined;
  /** Called with the ACK of this INVITE's 2xx, in place of the endpoint handler's `ack`. */
  onAck: ((ack: SipRequest) => void) | undefined;
  readonly #machine: InviteServerTransaction | NonInviteServerTransaction;
  readonly #channel: Channel;
  readonly #sent: (transaction: ServerTransaction, response: SipResponse, data: Buffer) => void;

  /** @internal The 100 that is due unless another response comes first. */
  trying: Timer | undefined;

  /** @internal */
  constructor(
    request: SipRequest,
    source: Source,
    channel: Channel,
    timers: Timers,
    values: TimerValues,
    user: ServerTransactionUser,
    sent: (transaction: ServerTransaction, response: SipResponse, data: Buffer) => void,
  ) {
    this.request = request;
    this.source = source;
    const tag = request.toTag;
    this.inDialog = tag !== undefined;
    this.localTag = tag ?? token();
    this.#channel = channel;
    this.#sent = sent;
    this.#machine =
      request.method === 'INVITE'
        ? new InviteServerTransaction(channel, timers, values, user)
        : new NonInviteServerTransaction(channel, timers, values, user);
  }

  get state(): string {
    return this.#machine.state;
  }

  /** Whether a final response may still be sent. */
  get open(): boolean {
    const { state } = this.#machine;
    return state === 'trying' || state === 'proceeding';
  }

  /** A response with the headers that the request dictates; add to it, then {@link send} it. */
  createResponse(status: number, reason?: string): SipResponse {
    return responseTo(this.request, status, reason, this.localTag);
  }

  /**
   * Sends a response.
   * @returns the bytes sent, or `undefined` if the transaction takes none any more (it had its final response).
   */
  send(response: SipResponse): Buffer | undefined {
    const data = response.toBuffer();
    if (!this.#machine.send(response.status, data)) return undefined;
    this.trying?.cancel();
    this.#sent(this, response, data);
    return data;
  }

  /** Builds and sends a response in one go. @returns false if the transaction takes none any more. */
  reply(status: number, options: ReplyOptions = {}): boolean {
    const response = this.createResponse(status, options.reason);
    for (const [name, value] of Object.entries(options.headers ?? {})) {
      for (const one of typeof value === 'string' ? [value] : value) response.add(name, one);
    }
    if (options.body !== undefined) response.body = Buffer.from(options.body);
    return this.send(response) !== undefined;
  }

  /** Sends a provisional response again, as long as there is no final one (RFC 3262 section 3). */
  resend(data: Buffer): void {
    if (this.open) this.#channel.send(data);
  }

  /** @internal */
  receiveRetransmission(): void {
    this.#machine.receiveRetransmission();
  }

  /** @internal */
  receiveAck(): void {
    if (this.#machine instanceof InviteServerTransaction) this.#machine.receiveAck();
  }

  /**
   * @internal It has had its final response, and that its ACK: of the request only its method is kept, for retransmissions,
   * and nobody is told of an ACK or a CANCEL any more. What they would be told to is a whole call.
   */
  shed(): void {
    this.request.shed();
    this.localTag = copyOf(this.localTag);
    this.onAck = undefined;
    this.onCancel = undefined;
  }

  /** @internal */
  dispose(): void {
    this.#machine.dispose();
  }
}
