import type { Challenger } from './challenger.ts';
import { CallSession } from './call-session.ts';
import { IncomingCall } from './incoming-call.ts';
import type { Codec } from './media/codecs.ts';
import { FaxMachine } from './media/fax-machine.ts';
import { RtpSession } from './media/rtp-session.ts';
import type { SrtpSuite } from './media/srtp.ts';
import { OutgoingCall } from './outgoing-call.ts';
import type { CallContext, PhoneCall } from './phone-call.ts';
import { PhoneSubscription, type SubscribeOptions } from './phone-subscription.ts';
import { Registration, type RegisterOptions, type RegisterResult } from './registration.ts';
import { sendMessage, type TextToSend } from './send-message.ts';
import { tagOf, parseUri } from './sip/address.ts';
import { type EndpointOptions, SipEndpoint } from './sip/endpoint.ts';
import { header, headerList, token, type SipHeader, type SipRequest, type SipResponse } from './sip/message.ts';
import type { ServerTransaction } from './sip/server-transaction.ts';
import type { Protocol } from './sip/transport.ts';
import { Arrivals } from './wait.ts';

export interface PhoneOptions extends EndpointOptions {
  readonly login: string;
  readonly domain: string;
  readonly password?: string;
  /** `ip:port`, or `[ip]:port`, of the server: registrar and outbound proxy. Without it calls go where their URI points. */
  readonly registrar?: string;
  readonly transport?: Protocol;
  readonly codecs?: readonly Codec[];
  /** Supports telephone-events (RFC 4733); true by default. */
  readonly keysByRtp?: boolean;
  /** Changes its session descriptions. */
  readonly describes?: (sdp: string) => string;
  /** Encrypts its sound by keys in the session description (RFC 4568): always offers it, and takes it where offered. */
  readonly srtp?: SrtpSuite;
  /** Registers a contact as a browser does, whatever its transport. */
  readonly websocketContact?: boolean;
  /** Gets every session description of the far end, as it came. */
  readonly receives?: (sdp: string) => void;
  /** Rings by reliable responses (RFC 3262); `demanded`: refuses a call with 421 that does not support them. */
  readonly reliable?: 'demanded' | 'unasked';
  /** Takes and offers faxes by T.38. */
  readonly faxes?: boolean;
  readonly displayName?: string;
  /** Requires this password of registering and calling phones, like an operator. */
  readonly challenger?: Challenger;
  /** Response to a MESSAGE outside any call; undefined: 200. */
  readonly messageStatus?: number;
  /** Response to OPTIONS outside any call; undefined: 200. */
  readonly optionsStatus?: () => number;
  /** Expected violations, which do not fail the test. */
  readonly tolerates?: RegExp;
}

/**
 * A SIP phone for tests, written from the RFCs on raw sockets and sharing no code with the project, so that a
 * misunderstanding is not repeated. It does what a test says, and records every violation by the far end.
 */
export class Phone {
  readonly login: string;
  /** Requests outside any call: NOTIFY, MESSAGE, OPTIONS. */
  readonly requests = new Arrivals<SipRequest>('request outside a call');
  /** REGISTERs accepted by this phone as an operator. */
  readonly registrations = new Arrivals<SipRequest>('REGISTER');
  readonly #options: PhoneOptions;
  readonly #calls = new Set<PhoneCall>();
  readonly #subscriptions = new Set<PhoneSubscription>();
  readonly #arrivals: Arrivals<IncomingCall>;
  /** INVITEs cancelled while their call was being set up. */
  readonly #cancelledEarly = new WeakSet<ServerTransaction>();
  #endpoint!: SipEndpoint;
  #registration: Registration | undefined;
  #registered = false;
  #stopped = false;

  private constructor(options: PhoneOptions) {
    this.#options = options;
    this.login = options.login;
    this.#arrivals = new Arrivals(`incoming call at ${options.login}`);
  }

  static async start(options: PhoneOptions): Promise<Phone> {
    const phone = new Phone(options);
    const events = {
      request: (transaction: ServerTransaction) => void phone.#receive(transaction),
      cancelled: (transaction: ServerTransaction) => phone.#cancelled(transaction),
    };
    phone.#endpoint = await SipEndpoint.open(options.transport ?? 'udp', events, options);
    return phone;
  }

  /** `sip:login@address:port`, its contact and direct address. */
  get contact(): string {
    const { protocol, hostPort } = this.#endpoint;
    // RFC 7118 section 5.2.4 knows `ws` only.
    const transport = protocol === 'udp' ? '' : `;transport=${protocol === 'wss' ? 'ws' : protocol}`;
    return `sip:${this.login}@${hostPort}${transport}`;
  }

  /** `sip:login@domain` */
  get address(): string {
    return `sip:${this.login}@${this.#options.domain}`;
  }

  /** Every violation of SIP, SDP or RTP by the far end so far. */
  get violations(): readonly string[] {
    const all = [...this.#endpoint.violations, ...[...this.#calls].flatMap(mediaViolations)];
    return all.filter((what) => this.#options.tolerates?.test(what) !== true);
  }

  /** The next violation of SIP or SDP. */
  async violation(withinMs = 15_000): Promise<string> {
    return this.#endpoint.noted.next(withinMs);
  }

  /** SIP messages sent and received, one line each. */
  trace(): string[] {
    return this.#endpoint.trace();
  }

  async register(options: Partial<RegisterOptions> = {}): Promise<RegisterResult> {
    const result = await this.#registrar().register({
      expires: 600,
      username: this.login,
      password: this.#options.password ?? '',
      // A name that means nothing: only the connection leads to a browser (RFC 7118 section 5).
      contact:
        this.#options.websocketContact === true ? `sip:${this.login}@browser.invalid;transport=ws` : this.contact,
      ...options,
    });
    if (result.status === 200) this.#registered = (options.expires ?? 600) > 0;
    return result;
  }

  async unregister(): Promise<RegisterResult> {
    return this.register({ expires: 0 });
  }

  /** Calls a number or login of the domain, or a whole SIP URI. */
  async call(
    target: string,
    options: { headers?: readonly SipHeader[]; lateOffer?: boolean; to?: string } = {},
  ): Promise<OutgoingCall> {
    const uri = target.startsWith('sip:') ? target : `sip:${target}@${this.#options.domain}`;
    const call = new OutgoingCall(await this.#context(`${this.login} -> ${target}`), {
      target: uri,
      to: options.to ?? uri,
      from: this.address,
      displayName: this.#options.displayName,
      via: this.#proxy() ?? this.#endpoint.peerOf(uri),
      username: this.login,
      password: this.#options.password ?? '',
      headers: options.headers ?? [],
      lateOffer: options.lateOffer === true,
    });
    this.#calls.add(call);
    return call;
  }

  /** A request to the server outside any call, e.g. an OPTIONS ping or a SUBSCRIBE; rejects without an answer. */
  async request(method: string, headers: readonly SipHeader[] = []): Promise<SipResponse> {
    const uri = `sip:${this.#options.domain}`;
    const request: SipRequest = {
      kind: 'request',
      method,
      uri,
      headers: [
        { name: 'From', value: `<${this.address}>;tag=${token()}` },
        { name: 'To', value: `<${this.address}>` },
        { name: 'Call-ID', value: `${token()}@127.0.0.1` },
        { name: 'CSeq', value: `1 ${method}` },
        { name: 'Contact', value: `<${this.contact}>` },
        ...headers,
      ],
      body: '',
    };
    const response = await this.#endpoint.send(request, this.#proxy() ?? this.#endpoint.peerOf(uri)).final;
    if (response === undefined) throw new Error(`${this.login}: no answer to ${method}`);
    return response;
  }

  /** A subscription, or the publication of a state, to be sent by `send`. @param target number or login of the domain, or a whole SIP URI */
  subscription(target: string, options: Omit<SubscribeOptions, 'target'>): PhoneSubscription {
    const uri = target.startsWith('sip:') ? target : `sip:${target}@${this.#options.domain}`;
    const peer = this.#proxy() ?? this.#endpoint.peerOf(uri);
    const { login: username, address: from, contact } = this;
    const who = { from, contact, username, password: this.#options.password ?? '' };
    const subscription = new PhoneSubscription(this.#endpoint, peer, who, { ...options, target: uri });
    this.#subscriptions.add(subscription);
    return subscription;
  }

  /** Sends a text to a number or login of the domain, or to a whole SIP URI; rejects without an answer. */
  async message(
    target: string,
    text: string,
    options: Partial<Pick<TextToSend, 'contentType' | 'headers' | 'password' | 'from' | 'to'>> = {},
  ): Promise<SipResponse> {
    const uri = target.startsWith('sip:') ? target : `sip:${target}@${this.#options.domain}`;
    return sendMessage(this.#endpoint, this.#proxy() ?? this.#endpoint.peerOf(uri), {
      target: uri,
      text,
      from: this.address,
      username: this.login,
      password: this.#options.password ?? '',
      ...options,
    });
  }

  /** The next call to this phone. */
  async incoming(withinMs = 15_000): Promise<IncomingCall> {
    return this.#arrivals.next(withinMs);
  }

  /** Incoming calls not yet taken from `incoming()`. */
  get waitingCalls(): number {
    return this.#arrivals.pending;
  }

  /** True after an abrupt stop, while the registrar still knows its contact. */
  get isLeftRegistered(): boolean {
    return this.#stopped && this.#registered;
  }

  /** Ends its calls, removes its contact and closes. `abruptly` does neither, like a phone without power. */
  async stop(options: { abruptly?: boolean } = {}): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    try {
      if (options.abruptly === true) return;
      await Promise.all([...this.#calls].map((call) => call.hangup()));
      if (this.#registered) await this.unregister();
    } finally {
      for (const call of this.#calls) call.abandon();
      await this.#endpoint.close();
    }
  }

  /** Ends all connections to it, by TCP or TLS; it goes on. */
  cut(): void {
    this.#endpoint.cut();
  }

  /** Loses its connection without a word; its registration stays at the registrar. */
  async disconnect(): Promise<void> {
    this.#registered = false;
    await this.#endpoint.close();
  }

  #proxy(): ReturnType<SipEndpoint['peer']> | undefined {
    const { registrar } = this.#options;
    return registrar === undefined ? undefined : this.#endpoint.peerOf(`sip:${registrar}`);
  }

  #registrar(): Registration {
    const peer = this.#proxy();
    if (peer === undefined) throw new Error(`${this.login} has no registrar`);
    this.#registration ??= new Registration(this.#endpoint, peer, this.address, this.#options.domain);
    return this.#registration;
  }

  async #context(label: string): Promise<CallContext> {
    const endpoint = this.#endpoint;
    const violation = (what: string): void => endpoint.violation(`${label}: ${what}`);
    const {
      codecs = ['PCMU', 'PCMA'],
      keysByRtp = true,
      describes = (sdp: string) => sdp,
      srtp,
      receives,
      faxes = false,
    } = this.#options;
    // Loaded by the phones that need it: the library takes a while.
    const keys = srtp === undefined ? undefined : new (await import('./media/sdes.ts')).SdesKeys(srtp);
    const session = new CallSession(
      await RtpSession.open(this.#options.address),
      {
        codecs,
        keysByRtp,
        describes,
        keys,
        receives,
        address: this.#options.address,
        fax: faxes ? await FaxMachine.open() : undefined,
      },
      violation,
    );
    return { endpoint, session, contact: this.contact, label };
  }

  async #receive(transaction: ServerTransaction): Promise<void> {
    const { request } = transaction;
    const call = [...this.#calls].find((entry) => entry.owns(request));
    if (call?.live === true) return call.receive(transaction);
    const subscription = [...this.#subscriptions].find((entry) => entry.owns(request));
    if (request.method === 'NOTIFY' && subscription !== undefined) return subscription.receive(transaction);
    if (tagOf(header(request, 'to')) !== undefined) return this.#refuse(transaction, call !== undefined);
    const { challenger } = this.#options;
    if (['INVITE', 'REGISTER'].includes(request.method) && challenger?.admits(transaction) === false) return;
    if (request.method === 'REGISTER' && challenger !== undefined) return this.#registrarOf(transaction, challenger);
    if (request.method === 'INVITE') return this.#receiveInvite(transaction);
    if (['OPTIONS', 'NOTIFY', 'MESSAGE'].includes(request.method)) {
      this.#checkMessage(request);
      transaction.respond(this.#statusOf(request.method));
      return this.requests.push(request);
    }
    return transaction.respond(405, {
      headers: [{ name: 'Allow', value: 'INVITE, ACK, CANCEL, BYE, OPTIONS, NOTIFY' }],
    });
  }

  #statusOf(method: string): number {
    const { messageStatus, optionsStatus } = this.#options;
    const status = method === 'MESSAGE' ? messageStatus : method === 'OPTIONS' ? optionsStatus?.() : undefined;
    return status ?? 200;
  }

  /** RFC 3428 section 4 and 8. */
  #checkMessage({ method, headers }: SipRequest): void {
    if (method !== 'MESSAGE') return;
    if (headers.some(({ name }) => /^(contact|m)$/i.test(name))) this.#endpoint.violation('MESSAGE with Contact');
  }

  #registrarOf(transaction: ServerTransaction, { minExpires, serviceRoute, withoutOutbound }: Challenger): void {
    const contact = header(transaction.request, 'contact') ?? '';
    const expires = Number(header(transaction.request, 'expires'));
    if (expires > 0 && expires < minExpires) {
      transaction.respond(423, { headers: [{ name: 'Min-Expires', value: String(minExpires) }] });
      return;
    }
    if (withoutOutbound && contact.includes('reg-id=')) {
      transaction.respond(439, {});
      return;
    }
    const route = serviceRoute === undefined ? [] : [{ name: 'Service-Route', value: serviceRoute }];
    transaction.respond(200, { headers: [{ name: 'Contact', value: contact }, ...route] });
    this.registrations.push(transaction.request);
  }

  #refuse(transaction: ServerTransaction, wasACall: boolean): void {
    const { method, uri } = transaction.request;
    // A phone of another test, which had this port before, may still get some.
    const isMine = parseUri(uri).user === parseUri(this.contact).user;
    // A BYE that crosses this phone's own BYE is no violation.
    if (isMine && !(method === 'BYE' && wasACall))
      this.#endpoint.violation(`${method} in a dialog this phone does not have`);
    transaction.respond(wasACall && method === 'BYE' ? 200 : 481);
  }

  async #receiveInvite(transaction: ServerTransaction): Promise<void> {
    const { request } = transaction;
    const required = header(request, 'require');
    if (required !== undefined) {
      transaction.respond(420, { headers: [{ name: 'Unsupported', value: required }] });
      return;
    }
    const { reliable } = this.#options;
    if (reliable === 'demanded' && !headerList(request, 'supported').includes('100rel')) {
      transaction.respond(421, { headers: [{ name: 'Require', value: '100rel' }] });
      return;
    }
    if (request.uri !== this.contact) {
      this.#endpoint.violation(`INVITE: Request-URI is ${request.uri}, this phone's Contact is ${this.contact}`);
    }
    transaction.respond(100);
    const context = await this.#context(`${this.login} <- ${header(request, 'from')}`);
    const call = new IncomingCall(context, transaction, reliable !== undefined);
    this.#calls.add(call);
    if (this.#cancelledEarly.has(transaction)) call.cancelled();
    this.#arrivals.push(call);
  }

  #cancelled(transaction: ServerTransaction): void {
    this.#cancelledEarly.add(transaction);
    for (const call of this.#calls) {
      if (call instanceof IncomingCall && call.isInviteOf(transaction)) call.cancelled();
      else if (call.owns(transaction.request)) call.offerCancelled(transaction);
    }
  }
}

function mediaViolations(call: PhoneCall): string[] {
  return call.session.rtp.violations.map((what) => `RTP: ${what}`);
}
