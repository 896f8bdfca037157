import { Afterlife } from './afterlife.ts';
import { ClientTable } from './client-table.ts';
import type { ClientTransaction, ClientUser } from './client-transaction.ts';
import { SipParseError } from './errors.ts';
import type { SipRequest, SipResponse } from './message.ts';
import { DEFAULT_LIMITS, type ParseLimits } from './parse-message.ts';
import { RejectedMessageError } from './rejected-message.ts';
import { isNumeric, resolveDestination } from './resolve.ts';
import { type RequestHandler, ServerTable } from './server-table.ts';
import { DEFAULT_TCP_LIMITS, type TcpLimits } from './tcp-transport.ts';
import { DEFAULT_TIMER_VALUES, type Timers, type TimerValues, TimerWheel } from './timers.ts';
import { newBranch } from './tokens.ts';
import { type ListenAddress, TransportLayer } from './transport-layer.ts';
import type { Destination, ListeningPoint, Source } from './transport.ts';
import { validateRequest, validateResponse } from './validate.ts';
import { completeVia } from './via.ts';

/** What the user of an endpoint is told. */
export interface SipEndpointHandler extends RequestHandler {
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
  readonly #clients: ClientTable;
  readonly #servers: ServerTable;
  #closed = false;

  constructor(options: SipEndpointOptions) {
    this.#handler = options.handler;
    this.timers = options.timers ?? new TimerWheel();
    this.timerValues = options.timerValues ?? DEFAULT_TIMER_VALUES;
    this.#transport = new TransportLayer(
      {
        message: (message, source) => this.#receive(message, source),
        malformed: (error, source) =>
          this.#malformed(error, error instanceof RejectedMessageError ? error.rejected : undefined, source),
      },
      options.limits ?? DEFAULT_LIMITS,
      options.tcpLimits ?? DEFAULT_TCP_LIMITS,
    );
    const { timers, timerValues } = this;
    const tools = { transport: this.#transport, timers, timerValues, afterlife: new Afterlife(timers) };
    this.#clients = new ClientTable(tools);
    this.#servers = new ServerTable(tools, this.#handler, {
      most: options.maxServerTransactions ?? 50_000,
      tryingDelay: options.tryingDelay ?? 0,
    });
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
    request.prepend('Via', this.#transport.via(destination, branch));
    return this.#clients.send(request, branch, destination, user);
  }

  /**
   * Takes up an INVITE that an earlier process of this server sent, and that was ringing then: nothing is sent, but its
   * answers come, and it can be cancelled.
   * @param invite with the Via it was sent with
   * @throws SipParseError without a usable Via; SipTransportError `no-transport`
   */
  resume(invite: SipRequest, destination: Destination, user: ClientUser): ClientTransaction {
    return this.#clients.resume(invite, destination, user);
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
    request.prepend('Via', this.#transport.via(destination, branch));
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
      pendingAcks: this.#servers.pendingAcks,
      sockets: this.#transport.sockets,
      timers: this.timers.size,
    };
  }

  /** Ends every transaction without ceremony, drops every timer, its user's included, and closes every socket. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#clients.dispose();
    this.#servers.dispose();
    this.timers.clear();
    await this.#transport.close();
    // Users are told of connections that close, and may have set timers on that.
    this.timers.clear();
  }

  #receive(message: SipRequest | SipResponse, source: Source): void {
    if (this.#closed) return;
    message.source = source;
    try {
      if (message.kind === 'response') {
        validateResponse(message);
        this.#clients.receive(message);
        return;
      }
      message.setFirst('Via', completeVia(message.header('via') ?? '', message.topVia, source.address, source.port));
      validateRequest(message);
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      this.#malformed(error, message, source);
      return;
    }
    this.#servers.receive(message, source);
  }

  #malformed(error: SipParseError, rejected: SipRequest | SipResponse | undefined, source: Source): void {
    if (rejected?.kind === 'request' && rejected.method !== 'ACK' && rejected.has('via')) {
      this.#servers.replyStateless(rejected, source, 400);
    }
    this.#handler.malformed?.(error, source);
  }
}
