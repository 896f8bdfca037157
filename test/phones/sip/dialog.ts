import { parseCSeq, parseNameAddr, tagOf } from './address.ts';
import { header, headerList, type SipHeader, type SipRequest, type SipResponse } from './message.ts';

/** A SIP dialog of the phone (RFC 3261 section 12), with the checks of requests inside it. */
export class Dialog {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  readonly #local: string;
  readonly #remote: string;
  readonly #localContact: string;
  /** Request-URIs, first hop first. */
  readonly routes: readonly string[];
  remoteTarget: string;
  #localCSeq: number;
  #remoteCSeq: number | undefined;

  private constructor(fields: {
    callId: string;
    local: string;
    remote: string;
    localContact: string;
    routes: readonly string[];
    remoteTarget: string;
    localCSeq: number;
    remoteCSeq: number | undefined;
  }) {
    this.callId = fields.callId;
    this.#local = fields.local;
    this.#remote = fields.remote;
    this.localTag = tagOf(fields.local) ?? '';
    this.remoteTag = tagOf(fields.remote) ?? '';
    this.#localContact = fields.localContact;
    this.routes = fields.routes;
    this.remoteTarget = fields.remoteTarget;
    this.#localCSeq = fields.localCSeq;
    this.#remoteCSeq = fields.remoteCSeq;
  }

  /** The caller's side: made by a 2xx (or 101-199 with a tag) to its INVITE. */
  static ofCaller(invite: SipRequest, response: SipResponse): Dialog {
    return new Dialog({
      callId: header(invite, 'call-id') ?? '',
      local: header(invite, 'from') ?? '',
      remote: header(response, 'to') ?? '',
      localContact: parseNameAddr(header(invite, 'contact') ?? '').uri,
      routes: headerList(response, 'record-route')
        .map((value) => parseNameAddr(value).uri)
        .toReversed(),
      remoteTarget: parseNameAddr(header(response, 'contact') ?? header(invite, 'to') ?? '').uri,
      localCSeq: parseCSeq(header(invite, 'cseq') ?? '').number,
      remoteCSeq: undefined,
    });
  }

  /** The called side: made by the phone's own 2xx (or 101-199) to an INVITE. */
  static ofCalled(invite: SipRequest, localTag: string, localContact: string): Dialog {
    return new Dialog({
      callId: header(invite, 'call-id') ?? '',
      local: `${header(invite, 'to') ?? ''};tag=${localTag}`,
      remote: header(invite, 'from') ?? '',
      localContact,
      routes: headerList(invite, 'record-route').map((value) => parseNameAddr(value).uri),
      remoteTarget: parseNameAddr(header(invite, 'contact') ?? '').uri,
      localCSeq: 0,
      remoteCSeq: parseCSeq(header(invite, 'cseq') ?? '').number,
    });
  }

  /** URI the next request goes to: the first route, else the remote target (section 12.2.1.1). */
  get nextHop(): string {
    return this.routes[0] ?? this.remoteTarget;
  }

  /** A request inside the dialog. `cseq` only for ACK, which repeats the number of its INVITE. */
  request(method: string, extra: readonly SipHeader[] = [], body = '', cseq?: number): SipRequest {
    const number = cseq ?? (this.#localCSeq += 1);
    return {
      kind: 'request',
      method,
      uri: this.remoteTarget,
      headers: [
        ...this.routes.map((uri) => ({ name: 'Route', value: `<${uri}>` })),
        { name: 'From', value: this.#local },
        { name: 'To', value: this.#remote },
        { name: 'Call-ID', value: this.callId },
        { name: 'CSeq', value: `${number} ${method}` },
        ...extra,
      ],
      body,
    };
  }

  /** After a repeated INVITE (authentication, 491) the numbers continue from the last one used. */
  get lastCSeq(): number {
    return this.#localCSeq;
  }

  owns(request: SipRequest): boolean {
    return header(request, 'call-id') === this.callId && tagOf(header(request, 'to')) === this.localTag;
  }

  /** Processes a request of the far end; returns its violations (section 12.2.2). */
  receive(request: SipRequest): string[] {
    const mistakes: string[] = [];
    const fromTag = tagOf(header(request, 'from'));
    if (fromTag !== this.remoteTag) mistakes.push(`From tag is ${fromTag}, the dialog's is ${this.remoteTag}`);
    const { number } = parseCSeq(header(request, 'cseq') ?? '');
    if (this.#remoteCSeq !== undefined && number <= this.#remoteCSeq) {
      mistakes.push(`CSeq ${number} is not above ${this.#remoteCSeq}`);
    }
    this.#remoteCSeq = number;
    if (request.uri !== this.#localContact) {
      mistakes.push(`Request-URI is ${request.uri}, this phone's Contact is ${this.#localContact}`);
    }
    const contact = header(request, 'contact');
    if (contact !== undefined && ['INVITE', 'UPDATE'].includes(request.method)) {
      this.remoteTarget = parseNameAddr(contact).uri;
    }
    return mistakes;
  }
}
