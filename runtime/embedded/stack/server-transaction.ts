/** A server transaction, as its user sees it. */
import { InviteServerTransaction } from './invite-server.ts';
import { copyOf, type SipRequest, type SipResponse } from './message.ts';
import { NonInviteServerTransaction } from './non-invite-server.ts';
import { responseTo } from './responses.ts';
import type { Timer, Timers, TimerValues } from './timers.ts';
import { token } from './tokens.ts';
import type { Channel, ServerTransactionUser } from './transaction.ts';
import type { Source } from './transport.ts';

/** Additions of {@link ServerTransaction.reply} to a response. */
export interface ReplyOptions {
  /** Reason phrase in place of the usual one. */
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Buffer | string;
}

/** An incoming request and its responses. Created by the endpoint. */
export class ServerTransaction {
  readonly request: SipRequest;
  readonly source: Source;
  /**
   * This side's tag: the request's To tag, or a new one for every response but 100. It may be replaced before the first
   * of these responses.
   */
  localTag: string;
  /** Whether the request has a To tag, which means that it claims to belong to a dialog. */
  readonly inDialog: boolean;
  /**
   * Set by a user that answers a cancelled INVITE itself (a proxy). Without it the endpoint answers with 487.
   */
  onCancel: ((cancel: SipRequest) => void) | undefined;
  /** Called when the transaction has ended. */
  onTerminated: (() => void) | undefined;
  /** Called with the ACK of this INVITE's 2xx, in place of the endpoint handler's `ack`. */
  onAck: ((ack: SipRequest) => void) | undefined;
  readonly #machine: InviteServerTransaction | NonInviteServerTransaction;
  readonly #channel: Channel;
  readonly #sent: (transaction: ServerTransaction, response: SipResponse, data: Buffer) => void;

  /** @internal Timer of the delayed 100; another response cancels it. */
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

  /** Builds a response with the headers copied from the request. Complete it, then {@link send} it. */
  createResponse(status: number, reason?: string): SipResponse {
    return responseTo(this.request, status, reason, this.localTag);
  }

  /**
   * Sends a response.
   * @returns the sent bytes, or `undefined` when a final response was sent before.
   */
  send(response: SipResponse): Buffer | undefined {
    const data = response.toBuffer();
    if (!this.#machine.send(response.status, data)) return undefined;
    this.trying?.cancel();
    this.#sent(this, response, data);
    return data;
  }

  /** Builds and sends a response. @returns false when a final response was sent before. */
  reply(status: number, options: ReplyOptions = {}): boolean {
    const response = this.createResponse(status, options.reason);
    for (const [name, value] of Object.entries(options.headers ?? {})) {
      for (const one of typeof value === 'string' ? [value] : value) response.add(name, one);
    }
    if (options.body !== undefined) response.body = Buffer.from(options.body);
    return this.send(response) !== undefined;
  }

  /** Repeats a provisional response until the final one (RFC 3262 section 3). */
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
   * @internal Frees the request, except its method, after the final response and its ACK. The callbacks are dropped
   *   too, since they keep a whole call in memory.
   */
  freeMemory(): void {
    this.request.freeMemory();
    this.localTag = copyOf(this.localTag);
    this.onAck = undefined;
    this.onCancel = undefined;
  }

  /** @internal */
  dispose(): void {
    this.#machine.dispose();
  }
}
