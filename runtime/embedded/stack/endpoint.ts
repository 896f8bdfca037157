import { Afterlife } from './afterlife.ts';
import { ClientTransaction, type ClientUser } from './client-transaction.ts';
import { SipParseError, SipTransportError } from './errors.ts';
import { InviteClientTransaction } from './invite-client.ts';
import type { SipRequest, SipResponse } from './message.ts';
import { NonInviteClientTransaction } from './non-invite-client.ts';
import { DEFAULT_LIMITS, type ParseLimits } from './parse-message.ts';
import { isNumeric, resolveDestination } from './resolve.ts';
import { ackForFailure, cancelFor, responseTo, serverKey } from './responses.ts';
import { ServerTransaction } from './server-transaction.ts';
import { SuccessRetransmission } from './success-retransmission.ts';
import { DEFAULT_TCP_LIMITS, type TcpLimits } from './tcp-transport.ts';
import { DEFAULT_TIMER_VALUES, type Timers, type TimerValues, TimerWheel } from './timers.ts';
import { token } from './tokens.ts';
import { type Destination, formatDestination, type ListeningPoint, type Source } from './transport.ts';
import { type ListenAddress, TransportLayer } from './transport-layer.ts';
import { formatHost } from './uri.ts';
import { validateRequest, validateResponse } from './validate.ts';
import { completeVia, MAGIC_COOKIE } from './via.ts';

/** What the user of an endpoint is told. */
export interface SipEndpointHandler {
  /**
   * A new request (never ACK or CANCEL). An INVITE has been answered with 100 already, unless `tryingDelay` is set.
   * Retransmissions do not come.
   */
  request(transaction: ServerTransaction): void;
  /**
   * The ACK for a 2xx.
   * @param invite the INVITE's transaction if the 2xx was sent here and this is its first ACK.
   */
  ack?(ack: SipRequest, source: Source, invite: ServerTransaction | undefined): void;
  /** An INVITE was cancelled; CANCEL has been answered with 200 and the INVITE with 487. */
  cancelled?(invite: ServerTransaction, cancel: SipRequest, source: Source): void;
  /** No ACK came for a 2xx within 64*T1: the session should be ended with BYE (RFC 3261 section 13.3.1.4). */
  ackMissing?(invite: ServerTransaction): void;
  /** A response that belongs to no transaction, e.g. a late 2xx (RFC 3261 section 18.1.2). */
  strayResponse?(response: SipResponse, source: Source): void;
  /** Something that is no SIP message, or an invalid one; it has been answered with 400 where that was possible. */
  malformed?(error: SipParseError, source: Source): void;
}

export interface SipEndpointOptions {
  readonly handler: SipEndpointHandler;
  readonly timers?: Timers;
  readonly timerValues?: TimerValues;
  readonly limits?: ParseLimits;
  readonly tcpLimits?: TcpLimits;
  /** Server transactions at a time; beyond it requests are answered 503 without state. Default 50,000. */
  readonly maxServerTransactions?: number;
  /**
   * After how many ms an INVITE without any response is answered with 100. Default 0: at once. A user that as a rule
   * answers within 200 ms needs none earlier (RFC 3261 section 17.2.1), and spares the datagram.
   */
  readonly tryingDelay?: number;
}

/** What is alive, for leak tests. */
export interface SipEndpointStats {
  readonly clientTransactions: number;
  readonly serverTransactions: number;
  /** 2xx responses that wait for their ACK. */
  readonly pendingAcks: number;
  readonly sockets: number;
  readonly timers: number;
}

/** What was sent outside of a transaction. */
export interface Sent {
  readonly request: SipRequest;
  readonly wireSize: number;
  readonly local: ListeningPoint;
  readonly destination: Destination;
}

/**
 * SIP transport and transactions of one user agent or proxy. Dialogs are its user's business.
 *
 * ```ts
 * const endpoint = new SipEndpoint({ handler: { request: (t) => void t.reply(486) } });
 * const point = await endpoint.listen({ host: '127.0.0.1', port: 0 });   // UDP and TCP
 * ```
 */
export class SipEndpoint {
  readonly timers: Timers;
  readonly timerValues: TimerValues;
  readonly #handler: SipEndpointHandler;
  readonly #transport: TransportLayer;
  readonly #clients = new Map<string, ClientTransaction>();
  readonly #servers = new Map<string, ServerTransaction>();
  /** 2xx sent and not acknowledged, by {@link ackKey}. */
  readonly #unacknowledged = new Map<
    string,
    { transaction: ServerTransaction; retransmission: SuccessRetransmission }
  >();
  readonly #afterlife: Afterlife;
  readonly #maxServers: number;
  readonly #tryingDelay: number;
  #closed = false;

  constructor(options: SipEndpointOptions) {
    this.#handler = options.handler;
    this.timers = options.timers ?? new TimerWheel();
    this.#afterlife = new Afterlife(this.timers);
    this.timerValues = options.timerValues ?? DEFAULT_TIMER_VALUES;
    this.#maxServers = options.maxServerTransactions ?? 50_000;
    this.#tryingDelay = options.tryingDelay ?? 0;
    this.#transport = new TransportLayer(
      {
        message: (message, source) => this.#receive(message, source),
        malformed: (error, source) => this.#malformed(error, error.rejected, source),
      },
      options.limits ?? DEFAULT_LIMITS,
      options.tcpLimits ?? DEFAULT_TCP_LIMITS,
    );
  }

  /** Listens on UDP and TCP, same port. @throws ListenError */
  listen(address: ListenAddress): Promise<ListeningPoint> {
    return this.#transport.listenBoth(address);
  }

  /** @throws ListenError */
  listenUdp(address: ListenAddress): Promise<ListeningPoint> {
    return this.#transport.listenUdp(address);
  }

  /** @throws ListenError */
  listenTcp(address: ListenAddress): Promise<ListeningPoint> {
    return this.#transport.listenTcp(address);
  }

  /** Bound addresses. */
  get points(): ListeningPoint[] {
    return this.#transport.points;
  }

  /** Whether a TCP connection to that address is open, so that sending there needs no new one. */
  isConnected(destination: Destination): boolean {
    return this.#transport.isConnected(destination);
  }

  /** Host and port under which a destination reaches this endpoint: for Contact. @throws SipTransportError */
  addressFor(destination: Destination): ListenAddress {
    return this.#transport.sentBy(destination);
  }

  /**
   * Sends a request in a new client transaction. A Via is put before the others; everything else must be there.
   * @param destination a host name is looked up first; `failed` reports `unresolved`.
   * @param branch to be used in place of a new one; must begin with the magic cookie.
   * @throws SipTransportError `no-transport`.
   */
  request(request: SipRequest, destination: Destination, user: ClientUser, branch = newBranch()): ClientTransaction {
    request.prepend('Via', this.#via(destination, branch));
    const data = request.toBuffer();
    const local = this.#transport.localPoint(destination);
    const transaction = new ClientTransaction(this.#forClients, request, branch, destination, local, data.length, user);
    this.#clients.set(`${branch}|${request.method}`, transaction);
    if (isNumeric(destination)) this.#start(transaction, data, destination);
    else void this.#resolveAndStart(transaction, data);
    return transaction;
  }

  /**
   * Takes up an INVITE that an earlier process of this server sent, and that was ringing then: nothing is sent, but its
   * answers come, and it can be cancelled.
   * @param invite with the Via it was sent with
   * @throws SipParseError without a usable Via; SipTransportError `no-transport`
   */
  resume(invite: SipRequest, destination: Destination, user: ClientUser): ClientTransaction {
    const branch = invite.topVia.params.get('branch') ?? '';
    const local = this.#transport.localPoint(destination);
    const transaction = new ClientTransaction(this.#forClients, invite, branch, destination, local, 0, user);
    this.#clients.set(`${branch}|INVITE`, transaction);
    this.#start(transaction, Buffer.alloc(0), destination, true);
    return transaction;
  }

  /**
   * Sends the ACK of a 2xx. It gets its own Via and is repeated when the 2xx comes again.
   * @param invite the INVITE's transaction.
   * @throws SipTransportError `no-transport`.
   */
  sendAck(invite: ClientTransaction | undefined, ack: SipRequest, destination: Destination): Sent {
    const sent = this.send(ack, destination);
    if (invite === undefined) return sent;
    // As text: a small buffer holds on to all of the 64 KB that it shares.
    const text = ack.toBuffer().toString('latin1');
    invite.acknowledged(ack.toTag ?? '', () => this.#transport.send(Buffer.from(text, 'latin1'), destination));
    return sent;
  }

  /**
   * Sends a request outside of any transaction: an ACK, or what a stateless proxy forwards.
   * @throws SipTransportError `no-transport`.
   */
  send(request: SipRequest, destination: Destination, branch = newBranch()): Sent {
    request.prepend('Via', this.#via(destination, branch));
    const data = request.toBuffer();
    const local = this.#transport.localPoint(destination);
    if (isNumeric(destination)) this.#transport.send(data, destination);
    else {
      resolveDestination(destination).then(
        (numeric) => this.#transport.send(data, numeric),
        // Nobody waits for an ACK's delivery: its absence brings the 2xx again.
        () => undefined,
      );
    }
    return { request, wireSize: data.length, local, destination };
  }

  /**
   * Sends a response outside of any transaction, to where its topmost Via says (section 18.2.2). The proxy's own Via
   * must have been removed.
   */
  sendResponse(response: SipResponse): void {
    const via = response.topVia;
    const host = via.params.get('received') ?? via.params.get('maddr') ?? via.host;
    const port = Number(via.params.get('rport') ?? via.port ?? 5060);
    const destination: Destination = { transport: via.transport === 'TCP' ? 'tcp' : 'udp', host, port };
    if (isNumeric(destination)) this.#transport.send(response.toBuffer(), destination);
  }

  get stats(): SipEndpointStats {
    return {
      clientTransactions: this.#clients.size,
      serverTransactions: this.#servers.size,
      pendingAcks: this.#unacknowledged.size,
      sockets: this.#transport.sockets,
      timers: this.timers.size,
    };
  }

  /** Ends every transaction without ceremony, drops every timer, its user's included, and closes every socket. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const transaction of this.#clients.values()) transaction.dispose();
    for (const transaction of this.#servers.values()) transaction.dispose();
    for (const { retransmission } of this.#unacknowledged.values()) retransmission.stop();
    this.#clients.clear();
    this.#servers.clear();
    this.#unacknowledged.clear();
    this.timers.clear();
    await this.#transport.close();
    // Users are told of connections that close, and may have set timers on that.
    this.timers.clear();
  }

  // ---- client side -------------------------------------------------------------------------------------------------

  readonly #forClients = {
    cancel: (transaction: ClientTransaction, headers: readonly (readonly [string, string])[]): SipRequest | undefined =>
      this.#cancel(transaction, headers),
  };

  #via(destination: Destination, branch: string): string {
    const { host, port } = this.#transport.sentBy(destination);
    const sentBy = port === 5060 ? formatHost(host) : `${formatHost(host)}:${port}`;
    return destination.transport === 'udp'
      ? `SIP/2.0/UDP ${sentBy};rport;branch=${branch}`
      : `SIP/2.0/TCP ${sentBy};branch=${branch}`;
  }

  #start(transaction: ClientTransaction, data: Buffer, destination: Destination, ringing = false): void {
    const { request } = transaction;
    const channel = this.#transport.clientChannel(destination, (error) => transaction.transportFailed(error));
    const user = {
      response: (response: SipResponse) => {
        transaction.deliver(response);
        if (response.status >= 200) this.#afterlife.add(transaction);
      },
      failed: (error: SipTransportError) => transaction.fail(error),
      terminated: () => {
        channel.release?.();
        this.#clients.delete(`${transaction.branch}|${request.method}`);
        transaction.ended();
      },
    };
    const { timers, timerValues: values } = this;
    const parts = { request, data, target: formatDestination(destination), channel, timers, values, user };
    transaction.run(
      request.method === 'INVITE'
        ? new InviteClientTransaction(parts, (response) => ackForFailure(request, response).toBuffer())
        : new NonInviteClientTransaction(parts),
      ringing,
    );
  }

  async #resolveAndStart(transaction: ClientTransaction, data: Buffer): Promise<void> {
    try {
      const destination = await resolveDestination(transaction.destination);
      if (!this.#closed) this.#start(transaction, data, destination);
    } catch (error) {
      this.#clients.delete(`${transaction.branch}|${transaction.request.method}`);
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
      this.#sendCancel(transaction, cancel);
    };
    if (state === 'proceeding') send();
    else transaction.hold(cancel, send);
    return cancel;
  }

  /** The CANCEL has the INVITE's Via and destination, and its own transaction whose outcome changes nothing. */
  #sendCancel(invite: ClientTransaction, cancel: SipRequest): void {
    const data = cancel.toBuffer();
    const { branch, destination, local } = invite;
    const ignore = { response: () => undefined, failed: () => undefined };
    const transaction = new ClientTransaction(
      this.#forClients,
      cancel,
      branch,
      destination,
      local,
      data.length,
      ignore,
    );
    const key = `${branch}|CANCEL`;
    if (this.#clients.has(key)) return;
    this.#clients.set(key, transaction);
    if (isNumeric(destination)) this.#start(transaction, data, destination);
    else void this.#resolveAndStart(transaction, data);
  }

  // ---- server side -------------------------------------------------------------------------------------------------

  #receive(message: SipRequest | SipResponse, source: Source): void {
    if (this.#closed) return;
    message.source = source;
    try {
      if (message.kind === 'response') {
        validateResponse(message);
        this.#receiveResponse(message, source);
        return;
      }
      message.setFirst('Via', completeVia(message.header('via') ?? '', message.topVia, source.address, source.port));
      validateRequest(message);
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      this.#malformed(error, message, source);
      return;
    }
    this.#receiveRequest(message, source);
  }

  #receiveResponse(response: SipResponse, source: Source): void {
    const branch = response.topVia.params.get('branch') ?? '';
    const transaction = this.#clients.get(`${branch}|${response.cseq.method}`);
    if (transaction !== undefined) transaction.receive(response);
    else this.#handler.strayResponse?.(response, source);
  }

  #receiveRequest(request: SipRequest, source: Source): void {
    const key = serverKey(request);
    const known = this.#servers.get(key);
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
    if (this.#servers.size >= this.#maxServers) {
      this.#replyStateless(request, source, 503);
      return;
    }
    const transaction = this.#newServerTransaction(key, request, source);
    if (request.method === 'CANCEL') this.#receiveCancel(transaction);
    else {
      if (request.method === 'INVITE') {
        if (this.#tryingDelay === 0) transaction.reply(100);
        else transaction.trying = this.timers.set(this.#tryingDelay, () => void transaction.reply(100));
      }
      this.#handler.request(transaction);
    }
  }

  #newServerTransaction(key: string, request: SipRequest, source: Source): ServerTransaction {
    const channel = this.#transport.replyChannel(source, request);
    const transaction: ServerTransaction = new ServerTransaction(
      request,
      source,
      channel,
      this.timers,
      this.timerValues,
      {
        terminated: () => {
          this.#servers.delete(key);
          transaction.onTerminated?.();
        },
      },
      (sender, response, data) => {
        if (response.status < 200) return;
        // The ACK of a 2xx is told together with the INVITE.
        if (request.method !== 'INVITE' || response.status >= 300) this.#afterlife.add(sender);
        else if (sender.onCancel === undefined) this.#awaitAck(sender, response, () => channel.send(data));
      },
    );
    this.#servers.set(key, transaction);
    return transaction;
  }

  #receiveCancel(cancel: ServerTransaction): void {
    const invite = this.#servers.get(serverKey(cancel.request, 'INVITE'));
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
    const key = ackKey(response.callId, response.fromTag, response.toTag, response.cseq.number);
    if (this.#unacknowledged.has(key)) return;
    const retransmission = new SuccessRetransmission(this.timers, this.timerValues, send, () => {
      this.#unacknowledged.delete(key);
      this.#handler.ackMissing?.(transaction);
    });
    this.#unacknowledged.set(key, { transaction, retransmission });
  }

  #acknowledge(ack: SipRequest, source: Source): void {
    const key = ackKey(ack.callId, ack.fromTag, ack.toTag, ack.cseq.number);
    const waiting = this.#unacknowledged.get(key);
    if (waiting !== undefined) {
      waiting.retransmission.stop();
      this.#unacknowledged.delete(key);
      this.#afterlife.add(waiting.transaction);
      if (waiting.transaction.onAck !== undefined) {
        waiting.transaction.onAck(ack);
        return;
      }
    }
    this.#handler.ack?.(ack, source, waiting?.transaction);
  }

  #malformed(error: SipParseError, rejected: SipRequest | SipResponse | undefined, source: Source): void {
    if (rejected?.kind === 'request' && rejected.method !== 'ACK' && rejected.has('via')) {
      this.#replyStateless(rejected, source, 400);
    }
    this.#handler.malformed?.(error, source);
  }

  #replyStateless(request: SipRequest, source: Source, status: number): void {
    try {
      if (!request.topVia.params.has('rport')) {
        request.setFirst('Via', completeVia(request.header('via') ?? '', request.topVia, source.address, source.port));
      }
      this.#transport.replyChannel(source, request).send(responseTo(request, status, undefined, token()).toBuffer());
    } catch (error) {
      // Not even its Via can be read: there is nobody to answer.
      if (!(error instanceof SipParseError)) throw error;
    }
  }
}

/** A new branch (section 8.1.1.7). */
export function newBranch(): string {
  return MAGIC_COOKIE + token();
}

function ackKey(callId: string, fromTag: string | undefined, toTag: string | undefined, cseq: number): string {
  return `${callId}|${fromTag ?? ''}|${toTag ?? ''}|${cseq}`;
}
