/** A SIP endpoint: transport and transactions together. */
import { CompletedTransactions } from './completed-transactions.ts';
import { ClientTable } from './client-table.ts';
import type { ClientTransaction, ClientUser } from './client-transaction.ts';
import { DEFAULT_TCP_LIMITS, type TcpLimits } from './connection.ts';
import { SipParseError } from './errors.ts';
import type { SipRequest, SipResponse } from './message.ts';
import { DEFAULT_LIMITS, type ParseLimits } from './parse-message.ts';
import { RejectedMessageError } from './rejected-message.ts';
import { OwnAddresses } from './local-address.ts';
import { isNumeric, resolveDestination } from './resolve.ts';
import { type RequestHandler, ServerTable } from './server-table.ts';
import type { Trust } from './secure-client.ts';
import type { Certificate } from './secure-server.ts';
import { DEFAULT_TIMER_VALUES, type Timers, type TimerValues, TimerWheel } from './timers.ts';
import { newBranch } from './tokens.ts';
import { type ListenAddress, TransportLayer } from './transport-layer.ts';
import { defaultPort, type Destination, isTransport, type ListeningPoint, type Source } from './transport.ts';
import { validateRequest, validateResponse } from './validate.ts';
import { completeVia } from './via.ts';
import { bareAddress } from './uri.ts';
import type { WebSocketRules } from './websocket-rules.ts';

/** Events of an endpoint. */
export interface SipEndpointHandler extends RequestHandler {
  /** An invalid message, or bytes that are none. It has been answered with 400 where that was possible. */
  malformed?(error: SipParseError, source: Source): void;
  /** A connection was refused: a failed TLS or WebSocket handshake, or a page that may not connect. */
  refused?(reason: string, source: Source): void;
  /** A connection that this side has registered over has ended. */
  lost?(source: Source): void;
}

export interface SipEndpointOptions {
  readonly handler: SipEndpointHandler;
  readonly timers?: Timers;
  readonly timerValues?: TimerValues;
  readonly limits?: ParseLimits;
  readonly tcpLimits?: TcpLimits;
  /** Public addresses in Via and Contact for peers beyond this machine's own networks, at most one a family. */
  readonly publicAddresses?: readonly string[];
  /** For certificates of TLS servers. Default: the authorities of Node and of the system. */
  readonly trust?: Trust;
  /** Highest number of server transactions. Above it requests get a stateless 503. Default 50,000. */
  readonly maxServerTransactions?: number;
  /**
   * Time after which an INVITE without a response gets 100, ms. Default 0: at once. A user that usually answers within
   * 200 ms can set it to 200 and save a datagram (RFC 3261 section 17.2.1).
   */
  readonly tryingDelay?: number;
}

/** Live objects, for leak tests. */
export interface SipEndpointStats {
  readonly clientTransactions: number;
  readonly serverTransactions: number;
  /** 2xx responses that wait for their ACK. */
  readonly pendingAcks: number;
  readonly sockets: number;
  readonly timers: number;
}

/** A request that was sent outside of a transaction. */
export interface Sent {
  readonly request: SipRequest;
  readonly wireSize: number;
  readonly local: ListeningPoint;
  readonly destination: Destination;
}

/**
 * SIP transport and transactions of one user agent or proxy. Dialogs are left to its user.
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
        refused: (reason, source) => this.#handler.refused?.(reason, source),
        lost: (source) => this.#handler.lost?.(source),
      },
      options.limits ?? DEFAULT_LIMITS,
      options.tcpLimits ?? DEFAULT_TCP_LIMITS,
      new OwnAddresses(options.publicAddresses),
      options.trust,
    );
    const { timers, timerValues } = this;
    const tools = { transport: this.#transport, timers, timerValues, completed: new CompletedTransactions(timers) };
    this.#clients = new ClientTable(tools);
    this.#servers = new ServerTable(tools, this.#handler, {
      most: options.maxServerTransactions ?? 50_000,
      tryingDelay: options.tryingDelay ?? 0,
    });
  }

  /** Listens on UDP and TCP with the same port. @throws ListenError */
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

  /**
   * Listens for TLS.
   * @throws ListenError; an Error of OpenSSL for a certificate that cannot be used
   */
  listenTls(address: ListenAddress, certificate: Certificate): Promise<ListeningPoint> {
    return this.#transport.listenTls(address, certificate);
  }

  /**
   * Listens for WebSockets: `wss` with a certificate, else `ws`.
   * @throws ListenError; an Error of OpenSSL for a certificate that cannot be used
   */
  listenWebSocket(address: ListenAddress, rules: WebSocketRules, certificate?: Certificate): Promise<ListeningPoint> {
    return this.#transport.listenWebSocket(address, rules, certificate);
  }

  /** Uses another certificate for connections from now on; open ones stay. */
  replaceCertificate(certificate: Certificate): void {
    this.#transport.replaceCertificate(certificate);
  }

  /** Checks certificates of TLS servers against this from now on; open connections stay. */
  trust(trust: Trust): void {
    this.#transport.trust(trust);
  }

  /** Bound addresses. */
  get points(): ListeningPoint[] {
    return this.#transport.points;
  }

  /** Whether a connection to that address is open, so that sending there needs no new one. */
  isConnected(destination: Destination): boolean {
    return this.#transport.isConnected(destination);
  }

  /** The address under which a destination reaches this endpoint, for Contact. @throws SipTransportError */
  addressFor(destination: Destination): ListeningPoint {
    return this.#transport.sentBy(destination);
  }

  /**
   * Sends a request in a new client transaction. Adds the top Via; every other mandatory header must be present.
   * @param destination where to send. A host name is looked up first; `failed` reports `unresolved`.
   * @param branch branch of the Via; must begin with the magic cookie. Default: a new one.
   * @throws SipTransportError `no-transport`.
   */
  request(request: SipRequest, destination: Destination, user: ClientUser, branch = newBranch()): ClientTransaction {
    request.prepend('Via', this.#transport.via(destination, branch));
    return this.#clients.send(request, branch, destination, user);
  }

  /**
   * Resumes the transaction of a ringing INVITE that an earlier process sent. Sends nothing; responses are reported,
   * and the INVITE can be cancelled.
   * @param invite the INVITE with its original Via
   * @throws SipParseError without a usable Via; SipTransportError `no-transport`
   */
  resume(invite: SipRequest, destination: Destination, user: ClientUser): ClientTransaction {
    return this.#clients.resume(invite, destination, user);
  }

  /**
   * Sends the ACK of a 2xx with a Via of its own, and repeats it when the 2xx comes again.
   * @param invite the INVITE's transaction; without it the ACK is sent only once.
   * @throws SipTransportError `no-transport`.
   */
  sendAck(invite: ClientTransaction | undefined, ack: SipRequest, destination: Destination): Sent {
    const sent = this.send(ack, destination);
    if (invite === undefined) return sent;
    // Kept as text: a small Buffer keeps its whole pool of 64 KB in memory.
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
      const reaches = (address: string) => this.#transport.reaches(destination.transport, address);
      resolveDestination(destination, reaches).then(
        (numeric) => {
          request.setFirst('Via', this.#transport.via(numeric, branch));
          this.#transport.send(request.toBuffer(), numeric);
        },
        // A lost ACK needs no report: the peer sends the 2xx again.
        () => undefined,
      );
    }
    return { request, wireSize: data.length, local, destination };
  }

  /**
   * Sends a response outside of any transaction, to the address of its topmost Via (section 18.2.2). A proxy has to
   * remove its own Via first.
   */
  sendResponse(response: SipResponse): void {
    const via = response.topVia;
    const host = bareAddress(via.params.get('received') ?? via.params.get('maddr') ?? via.host);
    const named = via.transport.toLowerCase();
    const transport = isTransport(named) ? named : 'udp';
    const port = Number(via.params.get('rport') ?? via.port ?? defaultPort(transport));
    const destination: Destination = { transport, host, port };
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

  /** Drops every transaction and every timer, its user's included, and closes every socket. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#clients.dispose();
    this.#servers.dispose();
    this.timers.clear();
    await this.#transport.close();
    // Users hear of the closed connections, and may have set new timers.
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
