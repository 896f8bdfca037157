import { parseCSeq, parseUri, parseVia, tagOf } from './address.ts';
import { ClientTransaction, type ClientTransactionEvents } from './client-transaction.ts';
import {
  header,
  headerList,
  parseMessage,
  serialise,
  SipSyntaxError,
  startLine,
  token,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from './message.ts';
import { requestMistakes, responseMistakes } from './message-check.ts';
import { ServerTransaction } from './server-transaction.ts';
import { RFC3261_TIMERS, type SipTimers } from './timers.ts';
import { Arrivals } from '../wait.ts';
import { type ConnectedOptions, openConnected } from './connected-transport.ts';
import type { TestCertificate } from '../../support/certificate.ts';
import { openTransport, type Impairment, type Peer, type Protocol, type Transport } from './transport.ts';

export interface EndpointEvents {
  /** A new request that is neither ACK nor CANCEL. */
  request(transaction: ServerTransaction): void;
  /** The INVITE of `transaction` is cancelled; the CANCEL itself has been answered. */
  cancelled(transaction: ServerTransaction): void;
}

export interface EndpointOptions {
  readonly timers?: SipTimers;
  /** Loses or duplicates datagrams, to verify retransmission on both sides. */
  readonly impair?: Impairment;
  /** IP address of the phone, for SIP and sound; default 127.0.0.1. */
  readonly address?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** For a phone that others reach by TLS. */
  readonly certificate?: TestCertificate;
  /** For TLS and WebSockets of a phone that only connects. */
  readonly connection?: ConnectedOptions;
}

interface TraceEntry {
  readonly at: number;
  readonly sent: boolean;
  readonly peer: string;
  readonly text: string;
}

/**
 * The transaction user's view of SIP: one port, its transactions, a trace of messages, and a record of every
 * violation of RFC 3261 by the far end.
 */
export class SipEndpoint {
  readonly violations: string[] = [];
  /** The same, as a queue to await. */
  readonly noted = new Arrivals<string>('violation');
  readonly #trace: TraceEntry[] = [];
  readonly #clients = new Map<string, ClientTransaction>();
  readonly #servers = new Map<string, ServerTransaction>();
  readonly #events: EndpointEvents;
  readonly #times: SipTimers;
  readonly #address: string;
  #transport: Transport | undefined;
  #closed = false;

  private constructor(events: EndpointEvents, times: SipTimers, address: string) {
    this.#address = address;
    this.#events = events;
    this.#times = times;
  }

  static async open(protocol: Protocol, events: EndpointEvents, options: EndpointOptions = {}): Promise<SipEndpoint> {
    const { timers = RFC3261_TIMERS, address = '127.0.0.1' } = options;
    const endpoint = new SipEndpoint(events, timers, address);
    const handlers = {
      message: (data: Buffer, from: Peer) => endpoint.#receive(data, from),
      broken: (what: string) => endpoint.violation(what),
    };
    endpoint.#transport =
      protocol === 'udp' || protocol === 'tcp' || (protocol === 'tls' && options.certificate !== undefined)
        ? await openTransport(protocol, handlers, options)
        : await openConnected(protocol, handlers, options.connection ?? { server: '' });
    return endpoint;
  }

  get protocol(): Protocol {
    return this.#open().protocol;
  }

  /** `address:port`, for Via and Contact; a browser's has no meaning. */
  get hostPort(): string {
    const { host, port } = this.#open();
    return host ?? `${this.#address.includes(':') ? `[${this.#address}]` : this.#address}:${port}`;
  }

  /** The answer to a keep-alive over the connection. */
  async ping(): Promise<string | undefined> {
    return this.#open().ping?.();
  }

  /** Sent and received messages, oldest first, one line each. */
  trace(): string[] {
    const start = this.#trace[0]?.at ?? 0;
    return this.#trace.map(
      (entry) => `${String(entry.at - start).padStart(6)} ${entry.sent ? '->' : '<-'} ${entry.peer} ${entry.text}`,
    );
  }

  violation(what: string): void {
    this.violations.push(what);
    this.noted.push(what);
  }

  /** The peer of a URI with a numeric host. */
  peerOf(uri: string): Peer {
    const { host, port } = parseUri(uri);
    return this.#open().peer(host === 'localhost' ? '127.0.0.1' : host.replace(/^\[|\]$/g, ''), port ?? 5060);
  }

  peer(address: string, port: number): Peer {
    return this.#open().peer(address, port);
  }

  /** Starts a client transaction; Via, Max-Forwards and User-Agent are added. */
  send(
    request: SipRequest,
    peer: Peer,
    events: Pick<ClientTransactionEvents, 'provisional' | 'repeated2xx'> = {},
  ): ClientTransaction {
    const branch = `z9hG4bK${token()}`;
    const transaction = new ClientTransaction(this.#complete(request, branch), branch, peer, this.#times, {
      ...events,
      sent: (message) => this.#note(true, peer, message),
      violation: (what) => this.violation(what),
    });
    this.#clients.set(`${branch} ${request.method}`, transaction);
    return transaction;
  }

  /** Cancels an INVITE: same Request-URI, branch, Call-ID, To, From and CSeq number (RFC 3261 section 9.1). */
  cancel(invite: ClientTransaction): ClientTransaction {
    const kept = ['via', 'from', 'to', 'call-id', 'route', 'max-forwards'];
    const { number } = parseCSeq(header(invite.request, 'cseq') ?? '');
    const request: SipRequest = {
      ...invite.request,
      method: 'CANCEL',
      headers: [
        ...invite.request.headers.filter((entry) => kept.includes(entry.name.toLowerCase())),
        { name: 'CSeq', value: `${number} CANCEL` },
      ],
      body: '',
    };
    const transaction = new ClientTransaction(request, invite.branch, invite.peer, this.#times, {
      sent: (message) => this.#note(true, invite.peer, message),
      violation: (what) => this.violation(what),
    });
    this.#clients.set(`${invite.branch} CANCEL`, transaction);
    return transaction;
  }

  /** Sends an ACK to a 2xx, outside any transaction. Returns the function that repeats it. */
  sendAck(ack: SipRequest, peer: Peer): () => void {
    const complete = this.#complete(ack, `z9hG4bK${token()}`);
    const send = (): void => {
      if (this.#closed) return;
      this.#note(true, peer, complete);
      peer.send(serialise(complete));
    };
    send();
    return send;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const transaction of this.#clients.values()) transaction.close();
    for (const transaction of this.#servers.values()) transaction.close();
    await this.#open().close();
  }

  /** Ends all connections; the port stays open. */
  cut(): void {
    this.#open().cut?.();
  }

  #open(): Transport {
    if (this.#transport === undefined) throw new Error('the SIP port is not open');
    return this.#transport;
  }

  #complete(request: SipRequest, branch: string): SipRequest {
    const transport = this.protocol.toUpperCase();
    return {
      ...request,
      headers: [
        { name: 'Via', value: `SIP/2.0/${transport} ${this.hostPort};branch=${branch};rport` },
        { name: 'Max-Forwards', value: '70' },
        ...request.headers,
        { name: 'User-Agent', value: 'test-phone' },
      ],
    };
  }

  #note(sent: boolean, peer: Peer, message: SipMessage): void {
    const callId = header(message, 'call-id') ?? '';
    const cseq = header(message, 'cseq') ?? '';
    const text = `${startLine(message)} [${cseq}] ${callId.slice(0, 12)}`;
    this.#trace.push({ at: Date.now(), sent, peer: `${peer.address}:${peer.port}`, text });
    if (this.#trace.length > 500) this.#trace.shift();
  }

  #receive(data: Buffer, from: Peer): void {
    if (this.#closed) return;
    let message: SipMessage;
    try {
      message = parseMessage(data);
    } catch (error) {
      if (!(error instanceof SipSyntaxError)) throw error;
      this.violation(`${error.message}: ${JSON.stringify(data.toString('latin1').slice(0, 200))}`);
      return;
    }
    this.#note(false, from, message);
    if (message.kind === 'response') this.#receiveResponse(message);
    else this.#receiveRequest(message, from);
  }

  #receiveResponse(response: SipResponse): void {
    const branch = parseVia(headerList(response, 'via')[0] ?? '').params.get('branch') ?? '';
    const { method } = parseCSeq(header(response, 'cseq') ?? '');
    const transaction = this.#clients.get(`${branch} ${method}`);
    if (transaction === undefined) {
      this.violation(`${response.status} to ${method} belongs to no transaction (branch ${branch})`);
      return;
    }
    for (const mistake of responseMistakes(response, transaction)) {
      this.violation(`${response.status} to ${method}: ${mistake}`);
    }
    transaction.receive(response);
  }

  #receiveRequest(request: SipRequest, from: Peer): void {
    const mistakes = requestMistakes(request);
    for (const mistake of mistakes) this.violation(`${request.method}: ${mistake}`);
    if (mistakes.length > 0) return;
    const via = parseVia(headerList(request, 'via')[0] ?? '');
    const key = `${via.params.get('branch')} ${via.sentBy}`;
    if (request.method === 'ACK') return this.#receiveAck(request, key);
    const known = this.#servers.get(`${key} ${request.method}`);
    if (known !== undefined) return known.retransmitted();
    // Without rport the answer goes to the port in Via (RFC 3261 section 18.2.2).
    const viaPort = Number(/:(\d+)$/.exec(via.sentBy)?.[1] ?? 5060);
    const peer = from.protocol !== 'udp' || via.params.has('rport') ? from : this.peer(from.address, viaPort);
    const transaction = new ServerTransaction(request, peer, this.#times, {
      sent: (message) => this.#note(true, peer, message),
      violation: (what) => this.violation(what),
    });
    this.#servers.set(`${key} ${request.method}`, transaction);
    if (request.method === 'CANCEL') return this.#receiveCancel(transaction, this.#servers.get(`${key} INVITE`));
    return this.#events.request(transaction);
  }

  #receiveCancel(cancel: ServerTransaction, invite: ServerTransaction | undefined): void {
    if (invite === undefined) {
      this.violation(`CANCEL for no INVITE: ${header(cancel.request, 'call-id')}`);
      return cancel.respond(481);
    }
    for (const name of ['call-id', 'from', 'to']) {
      if (header(cancel.request, name) !== header(invite.request, name)) {
        this.violation(`CANCEL: ${name} differs from the INVITE's`);
      }
    }
    if (cancel.request.uri !== invite.request.uri) this.violation(`CANCEL: Request-URI differs from the INVITE's`);
    const numbers = [cancel, invite].map(({ request }) => parseCSeq(header(request, 'cseq') ?? '').number);
    if (numbers[0] !== numbers[1]) this.violation(`CANCEL: CSeq number differs from the INVITE's`);
    cancel.respond(200);
    if (invite.status < 200) this.#events.cancelled(invite);
  }

  #receiveAck(ack: SipRequest, key: string): void {
    const sameBranch = this.#servers.get(`${key} INVITE`);
    if (sameBranch !== undefined) {
      if (sameBranch.status < 300) this.violation('ACK to a 2xx has the branch of its INVITE');
      return sameBranch.acknowledged(ack);
    }
    const { number } = parseCSeq(header(ack, 'cseq') ?? '');
    const answered = [...this.#servers.values()].find(
      ({ request, status, localTag }) =>
        request.method === 'INVITE' &&
        status >= 200 &&
        status < 300 &&
        header(request, 'call-id') === header(ack, 'call-id') &&
        parseCSeq(header(request, 'cseq') ?? '').number === number &&
        localTag === tagOf(header(ack, 'to')),
    );
    if (answered === undefined) return this.violation(`ACK for no INVITE: ${header(ack, 'call-id')} CSeq ${number}`);
    return answered.acknowledged(ack);
  }
}
