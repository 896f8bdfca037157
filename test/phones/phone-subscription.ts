/** A subscription of a test phone (RFC 6665), with digest. */
import { tagOf } from './sip/address.ts';
import { authorization, parseChallenge } from './sip/digest.ts';
import type { SipEndpoint } from './sip/endpoint.ts';
import { header, headerLines, type SipHeader, type SipRequest, type SipResponse, token } from './sip/message.ts';
import type { ServerTransaction } from './sip/server-transaction.ts';
import type { Peer } from './sip/transport.ts';
import { Arrivals } from './wait.ts';

export interface SubscribeOptions {
  /** Header Event. */
  readonly event: string;
  /** Request-URI. */
  readonly target: string;
  readonly expires?: number | string | undefined;
  readonly headers?: readonly SipHeader[] | undefined;
  readonly body?: string | undefined;
  readonly method?: 'SUBSCRIBE' | 'PUBLISH' | undefined;
}

export interface Subscriber {
  readonly from: string;
  readonly contact: string;
  readonly username: string;
  readonly password: string;
}

/** What the phone got. */
export interface Notified {
  readonly state: string;
  readonly body: string;
  readonly request: SipRequest;
}

export class PhoneSubscription {
  readonly notifies = new Arrivals<Notified>('NOTIFY');
  /** Status of its answers to NOTIFY. */
  answers = 200;
  /** True: it does not answer. */
  silent = false;
  readonly #endpoint: SipEndpoint;
  readonly #peer: Peer;
  readonly #who: Subscriber;
  readonly #options: SubscribeOptions;
  readonly #callId = `${token()}@127.0.0.1`;
  readonly #tag = token();
  #to: string;
  #target: string;
  #cseq = 0;
  /** Highest CSeq of a NOTIFY. */
  #remoteCSeq = 0;

  constructor(endpoint: SipEndpoint, peer: Peer, who: Subscriber, options: SubscribeOptions) {
    this.#endpoint = endpoint;
    this.#peer = peer;
    this.#who = who;
    this.#options = options;
    this.#to = `<${options.target}>`;
    this.#target = options.target;
  }

  /** Sends the first or a further SUBSCRIBE, repeated with credentials when challenged. */
  async send(expires: number | string | undefined = this.#options.expires): Promise<SipResponse> {
    const first = await this.#request(expires, []);
    const challenged = first.status === 401 || first.status === 407;
    const response = challenged ? await this.#request(expires, [this.#credentials(first)]) : first;
    if (response.status < 300 && this.#method === 'SUBSCRIBE') {
      this.#to = header(response, 'to') ?? this.#to;
      this.#target = /<([^>]+)>/.exec(header(response, 'contact') ?? '')?.[1] ?? this.#target;
    }
    return response;
  }

  /** Takes a NOTIFY of this dialog. */
  owns(request: SipRequest): boolean {
    return header(request, 'call-id') === this.#callId && tagOf(header(request, 'to')) === this.#tag;
  }

  receive(transaction: ServerTransaction): void {
    const { request } = transaction;
    const wrong = (what: string): void => this.#endpoint.violation(`NOTIFY: ${what}`);
    // The NOTIFY may come before the answer to SUBSCRIBE (section 4.1.2.4).
    const known = tagOf(this.#to);
    if (known !== undefined && tagOf(header(request, 'from')) !== known) wrong('the From tag is of another dialog');
    const cseq = Number.parseInt(header(request, 'cseq') ?? '0', 10);
    if (cseq <= this.#remoteCSeq) wrong(`CSeq ${cseq} after ${this.#remoteCSeq}`);
    this.#remoteCSeq = cseq;
    if (request.uri !== this.#who.contact) wrong(`Request-URI is ${request.uri}`);
    if (header(request, 'event') !== this.#options.event) wrong(`Event is ${header(request, 'event')}`);
    const state = header(request, 'subscription-state') ?? '';
    if (!/^(?:active|pending|terminated)/.test(state)) wrong(`Subscription-State is ${state}`);
    const contact = header(request, 'contact') ?? '';
    if (!/^<sip:[^>]*\d+:\d+[^>]*>$/.test(contact)) wrong(`Contact is ${contact}`);
    if (request.body !== '' && header(request, 'content-type') === undefined) wrong('no Content-Type');
    if (!this.silent) transaction.respond(this.answers);
    this.notifies.push({ state, body: request.body, request });
  }

  get #method(): 'SUBSCRIBE' | 'PUBLISH' {
    return this.#options.method ?? 'SUBSCRIBE';
  }

  #credentials(response: SipResponse): SipHeader {
    const proxy = response.status === 407;
    const { username, password } = this.#who;
    const [challenge] = headerLines(response, proxy ? 'proxy-authenticate' : 'www-authenticate').map(parseChallenge);
    if (challenge === undefined) throw new Error(`${username}: a challenge that cannot be read`);
    const uri = this.#target;
    const value = authorization({ challenge, username, password, method: this.#method, uri, nonceCount: 1 });
    return { name: proxy ? 'Proxy-Authorization' : 'Authorization', value };
  }

  async #request(expires: number | string | undefined, credentials: readonly SipHeader[]): Promise<SipResponse> {
    this.#cseq += 1;
    const { from, contact, username } = this.#who;
    const { event, headers = [], body = '' } = this.#options;
    const request: SipRequest = {
      kind: 'request',
      method: this.#method,
      uri: this.#target,
      headers: [
        { name: 'From', value: `<${from}>;tag=${this.#tag}` },
        { name: 'To', value: this.#to },
        { name: 'Call-ID', value: this.#callId },
        { name: 'CSeq', value: `${this.#cseq} ${this.#method}` },
        { name: 'Contact', value: `<${contact}>` },
        ...(event === '' ? [] : [{ name: 'Event', value: event }]),
        ...(expires === undefined ? [] : [{ name: 'Expires', value: String(expires) }]),
        ...credentials,
        ...headers,
      ],
      body,
    };
    const response = await this.#endpoint.send(request, this.#peer).final;
    if (response === undefined) throw new Error(`${username}: no answer to ${this.#method}`);
    return response;
  }
}
