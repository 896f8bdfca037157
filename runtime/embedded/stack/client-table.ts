/** The client transactions of an endpoint. */
import type { CompletedTransactions } from './completed-transactions.ts';
import { ClientTransaction, type ClientUser } from './client-transaction.ts';
import { SipTransportError } from './errors.ts';
import { InviteClientTransaction } from './invite-client.ts';
import type { SipRequest, SipResponse } from './message.ts';
import { NonInviteClientTransaction } from './non-invite-client.ts';
import { isNumeric, resolveDestination } from './resolve.ts';
import { ackForFailure, cancelFor } from './responses.ts';
import type { Timers, TimerValues } from './timers.ts';
import type { TransportLayer } from './transport-layer.ts';
import { type Destination, formatDestination } from './transport.ts';

/** Tools that client and server transactions share. */
export interface TransactionTools {
  readonly transport: TransportLayer;
  readonly timers: Timers;
  readonly timerValues: TimerValues;
  readonly completed: CompletedTransactions;
}

/** User of a CANCEL's transaction. The outcome of the CANCEL is ignored: the INVITE's final response counts. */
const NOBODY: ClientUser = { response: () => undefined, failed: () => undefined };

/** The client transactions of an endpoint (RFC 3261 section 17.1). */
export class ClientTable {
  readonly #tools: TransactionTools;
  readonly #transactions = new Map<string, ClientTransaction>();
  #closed = false;
  readonly #canceller = {
    cancel: (transaction: ClientTransaction, headers: readonly (readonly [string, string])[]): SipRequest | undefined =>
      this.#cancel(transaction, headers),
  };

  constructor(tools: TransactionTools) {
    this.#tools = tools;
  }

  get size(): number {
    return this.#transactions.size;
  }

  /**
   * Sends a request in a new transaction.
   * @param request the request, with its Via
   * @param branch branch of that Via
   * @throws SipTransportError `no-transport`
   */
  send(request: SipRequest, branch: string, destination: Destination, user: ClientUser): ClientTransaction {
    const data = request.toBuffer();
    const transaction = this.#open(request, branch, destination, data.length, user);
    if (isNumeric(destination)) this.#start(transaction, data, destination);
    else void this.#resolveAndStart(transaction);
    return transaction;
  }

  /** See `SipEndpoint.resume`. */
  resume(invite: SipRequest, destination: Destination, user: ClientUser): ClientTransaction {
    const branch = invite.topVia.params.get('branch') ?? '';
    const transaction = this.#open(invite, branch, destination, 0, user);
    this.#start(transaction, Buffer.alloc(0), destination, true);
    return transaction;
  }

  /** Takes a response. A response without a transaction is dropped. */
  receive(response: SipResponse): void {
    const branch = response.topVia.params.get('branch') ?? '';
    this.#transactions.get(keyOf(branch, response.cseq.method))?.receive(response);
  }

  /** Drops all transactions without a report, and starts no more. */
  dispose(): void {
    this.#closed = true;
    for (const transaction of this.#transactions.values()) transaction.dispose();
    this.#transactions.clear();
  }

  #open(
    request: SipRequest,
    branch: string,
    destination: Destination,
    wireSize: number,
    user: ClientUser,
  ): ClientTransaction {
    const local = this.#tools.transport.localPoint(destination);
    const transaction = new ClientTransaction(this.#canceller, request, branch, destination, local, wireSize, user);
    this.#transactions.set(keyOf(branch, request.method), transaction);
    return transaction;
  }

  #forget({ branch, request }: ClientTransaction): void {
    this.#transactions.delete(keyOf(branch, request.method));
  }

  #start(transaction: ClientTransaction, data: Buffer, destination: Destination, ringing = false): void {
    const { transport, timers, timerValues: values, completed } = this.#tools;
    const { request } = transaction;
    const channel = transport.clientChannel(destination, (error) => transaction.transportFailed(error));
    const user = {
      response: (response: SipResponse) => {
        transaction.deliver(response);
        if (response.status >= 200) completed.add(transaction);
      },
      failed: (error: SipTransportError) => transaction.fail(error),
      terminated: () => {
        channel.release?.();
        this.#forget(transaction);
        transaction.ended();
      },
    };
    const parts = { request, data, target: formatDestination(destination), channel, timers, values, user };
    transaction.run(
      request.method === 'INVITE'
        ? new InviteClientTransaction(parts, (response) => ackForFailure(request, response).toBuffer())
        : new NonInviteClientTransaction(parts),
      ringing,
    );
  }

  async #resolveAndStart(transaction: ClientTransaction): Promise<void> {
    const { transport } = this.#tools;
    const { request, branch, destination: named } = transaction;
    try {
      const destination = await resolveDestination(named, (address) => transport.reaches(named.transport, address));
      if (this.#closed) return;
      const data = transaction.resolve(destination, transport.localPoint(destination), () => {
        // The address may be of another family than the one that was expected of the name.
        request.setFirst('Via', transport.via(destination, branch));
        return request.toBuffer();
      });
      this.#start(transaction, data, destination);
    } catch (error) {
      this.#forget(transaction);
      if (!(error instanceof SipTransportError)) throw error;
      transaction.fail(error);
      transaction.ended();
    }
  }

  #cancel(transaction: ClientTransaction, headers: readonly (readonly [string, string])[]): SipRequest | undefined {
    const { state, request } = transaction;
    if (request.method !== 'INVITE' || (state !== 'trying' && state !== 'calling' && state !== 'proceeding'))
      return undefined;
    const cancel = cancelFor(request);
    for (const [name, value] of headers) cancel.add(name, value);
    const send = (): void => {
      transaction.expectFinal();
      // Completed when the host name of the destination was looked up.
      cancel.setFirst('Via', request.header('via') ?? '');
      this.#sendCancel(transaction, cancel);
    };
    if (state === 'proceeding') send();
    else transaction.hold(cancel, send);
    return cancel;
  }

  /** The CANCEL has the INVITE's Via and destination, and a transaction of its own. */
  #sendCancel({ branch, destination }: ClientTransaction, cancel: SipRequest): void {
    if (!this.#transactions.has(keyOf(branch, 'CANCEL'))) this.send(cancel, branch, destination, NOBODY);
  }
}

function keyOf(branch: string, method: string): string {
  return `${branch}|${method}`;
}
