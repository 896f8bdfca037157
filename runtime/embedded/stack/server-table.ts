/** The server transactions of an endpoint. */
import type { TransactionTools } from './client-table.ts';
import { SipParseError } from './errors.ts';
import type { SipRequest, SipResponse } from './message.ts';
import { responseTo, serverKey } from './responses.ts';
import { ServerTransaction } from './server-transaction.ts';
import { SuccessRetransmission } from './success-retransmission.ts';
import { token } from './tokens.ts';
import type { Source } from './transport.ts';
import { completeVia } from './via.ts';

/** Receives the requests of an endpoint. */
export interface RequestHandler {
  /**
   * A new request (never ACK or CANCEL, never a retransmission). Unless `tryingDelay` is set, an INVITE has got 100.
   */
  request(transaction: ServerTransaction): void;
  /**
   * The ACK for a 2xx.
   * @param invite the INVITE's transaction, if this endpoint sent the 2xx and this is its first ACK.
   */
  ack?(ack: SipRequest, source: Source, invite: ServerTransaction | undefined): void;
  /** An INVITE was cancelled. The CANCEL has got 200, the INVITE 487. */
  cancelled?(invite: ServerTransaction, cancel: SipRequest, source: Source): void;
  /** No ACK came for a 2xx within 64*T1: the user should end the session with BYE (RFC 3261 section 13.3.1.4). */
  ackMissing?(invite: ServerTransaction): void;
}

export interface ServerTableOptions {
  /** Highest number of transactions. Above it requests get a stateless 503. */
  readonly most: number;
  /** Time after which an INVITE without a response gets 100, ms; 0 for at once. */
  readonly tryingDelay: number;
}

/** A 2xx that waits for its ACK. */
interface Unacknowledged {
  readonly transaction: ServerTransaction;
  readonly retransmission: SuccessRetransmission;
}

/** The server transactions of an endpoint (RFC 3261 section 17.2), and the 2xx that wait for their ACK. */
export class ServerTable {
  readonly #tools: TransactionTools;
  readonly #handler: RequestHandler;
  readonly #options: ServerTableOptions;
  readonly #transactions = new Map<string, ServerTransaction>();
  /** By {@link ackKey}. */
  readonly #unacknowledged = new Map<string, Unacknowledged>();

  constructor(tools: TransactionTools, handler: RequestHandler, options: ServerTableOptions) {
    this.#tools = tools;
    this.#handler = handler;
    this.#options = options;
  }

  get size(): number {
    return this.#transactions.size;
  }

  /** 2xx responses that wait for their ACK. */
  get pendingAcks(): number {
    return this.#unacknowledged.size;
  }

  /** @param request a validated request */
  receive(request: SipRequest, source: Source): void {
    const key = serverKey(request);
    const known = this.#transactions.get(key);
    if (known !== undefined) {
      if (request.method !== 'ACK') known.receiveRetransmission();
      else if (known.state === 'accepted') this.#acknowledge(request, source);
      else known.receiveAck();
      return;
    }
    if (request.method === 'ACK') {
      this.#acknowledge(request, source);
      return;
    }
    if (this.#transactions.size >= this.#options.most) {
      this.replyStateless(request, source, 503);
      return;
    }
    const transaction = this.#open(key, request, source);
    if (request.method === 'CANCEL') this.#receiveCancel(transaction);
    else {
      if (request.method === 'INVITE') this.#try(transaction);
      this.#handler.request(transaction);
    }
  }

  /** Answers without a transaction. Does nothing when the request's Via cannot be read. */
  replyStateless(request: SipRequest, source: Source, status: number): void {
    try {
      if (!request.topVia.params.has('rport')) {
        request.setFirst('Via', completeVia(request.header('via') ?? '', request.topVia, source.address, source.port));
      }
      const channel = this.#tools.transport.replyChannel(source, request);
      channel.send(responseTo(request, status, undefined, token()).toBuffer());
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
    }
  }

  /** Drops all transactions without a report. */
  dispose(): void {
    for (const transaction of this.#transactions.values()) transaction.dispose();
    for (const { retransmission } of this.#unacknowledged.values()) retransmission.stop();
    this.#transactions.clear();
    this.#unacknowledged.clear();
  }

  #open(key: string, request: SipRequest, source: Source): ServerTransaction {
    const { transport, timers, timerValues, completed } = this.#tools;
    const channel = transport.replyChannel(source, request);
    const transaction: ServerTransaction = new ServerTransaction(
      request,
      source,
      channel,
      timers,
      timerValues,
      {
        terminated: () => {
          this.#transactions.delete(key);
          transaction.onTerminated?.();
        },
      },
      (sender, response, data) => {
        if (response.status < 200) return;
        // The ACK of a 2xx is reported with the INVITE's transaction, which must stay whole until then.
        if (request.method !== 'INVITE' || response.status >= 300) completed.add(sender);
        else if (sender.onCancel === undefined) this.#awaitAck(sender, response, () => channel.send(data));
      },
    );
    this.#transactions.set(key, transaction);
    return transaction;
  }

  #try(invite: ServerTransaction): void {
    const { tryingDelay } = this.#options;
    if (tryingDelay === 0) invite.reply(100);
    else invite.trying = this.#tools.timers.set(tryingDelay, () => void invite.reply(100));
  }

  #receiveCancel(cancel: ServerTransaction): void {
    const invite = this.#transactions.get(serverKey(cancel.request, 'INVITE'));
    if (invite === undefined || invite.request.method !== 'INVITE') {
      cancel.reply(481);
      return;
    }
    // The CANCEL is answered with the To tag of the INVITE's responses (RFC 3261 section 9.2).
    cancel.send(responseTo(cancel.request, 200, undefined, invite.localTag));
    if (!invite.open) return;
    if (invite.onCancel !== undefined) {
      invite.onCancel(cancel.request);
      return;
    }
    invite.reply(487);
    this.#handler.cancelled?.(invite, cancel.request, cancel.source);
  }

  #awaitAck(transaction: ServerTransaction, response: SipResponse, send: () => void): void {
    const { timers, timerValues } = this.#tools;
    const key = ackKey(response);
    if (this.#unacknowledged.has(key)) return;
    const retransmission = new SuccessRetransmission(timers, timerValues, send, () => {
      this.#unacknowledged.delete(key);
      this.#handler.ackMissing?.(transaction);
    });
    this.#unacknowledged.set(key, { transaction, retransmission });
  }

  #acknowledge(ack: SipRequest, source: Source): void {
    const key = ackKey(ack);
    const waiting = this.#unacknowledged.get(key);
    if (waiting !== undefined) {
      waiting.retransmission.stop();
      this.#unacknowledged.delete(key);
      this.#tools.completed.add(waiting.transaction);
      if (waiting.transaction.onAck !== undefined) {
        waiting.transaction.onAck(ack);
        return;
      }
    }
    this.#handler.ack?.(ack, source, waiting?.transaction);
  }
}

/** The key that a 2xx and its ACK share. */
function ackKey({ callId, fromTag = '', toTag = '', cseq }: SipRequest | SipResponse): string {
  return `${callId}|${fromTag}|${toTag}|${cseq.number}`;
}
