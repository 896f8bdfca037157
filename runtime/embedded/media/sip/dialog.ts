/** SIP dialogs of the media server. */
import {
  destinationOf,
  initialCSeq,
  parseNameAddr,
  type ServerTransaction,
  type SipEndpoint,
  SipParseError,
  SipRequest,
  SipTransportError,
} from '../../stack/index.ts';

/** Headers about the server in every message. */
export const USER_AGENT = 'drachtio MRF';
export const ALLOW = 'INVITE, ACK, BYE, CANCEL, OPTIONS, MESSAGE, INFO, UPDATE, REFER, NOTIFY';
export const SUPPORTED = 'path, replaces';

/** The server's side of a SIP dialog that the far end began (RFC 3261 section 12.1.1). */
export class Dialog {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  readonly #endpoint: SipEndpoint;
  readonly #local: string;
  readonly #remote: string;
  readonly #routes: readonly string[];
  readonly #source: ServerTransaction['source'];
  #target: string;
  #cseq = initialCSeq();
  #remoteCSeq: number;

  constructor(endpoint: SipEndpoint, invite: ServerTransaction) {
    const { request } = invite;
    this.#endpoint = endpoint;
    this.callId = request.callId;
    this.localTag = invite.localTag;
    this.remoteTag = request.fromTag ?? '';
    this.#local = `${request.header('to') ?? ''};tag=${invite.localTag}`;
    this.#remote = request.header('from') ?? '';
    this.#routes = request.values('record-route');
    this.#target = contactOf(request) ?? request.uri;
    this.#remoteCSeq = request.cseq.number;
    this.#source = invite.source;
  }

  get local(): string {
    return this.#local;
  }

  get remote(): string {
    return this.#remote;
  }

  /** The CSeq number of the far end's last request. */
  get remoteCSeq(): number {
    return this.#remoteCSeq;
  }

  /** Key of the dialog of an incoming request. */
  static keyOf(request: SipRequest): string {
    return `${request.callId}|${request.toTag ?? ''}|${request.fromTag ?? ''}`;
  }

  get key(): string {
    return `${this.callId}|${this.localTag}|${this.remoteTag}`;
  }

  /**
   * Checks and stores the CSeq of a request in the dialog (section 12.2.2), and the Contact of a target refresh.
   *
   * @returns false when the request is out of order
   */
  accept(request: SipRequest): boolean {
    if (request.cseq.number <= this.#remoteCSeq) return false;
    this.#remoteCSeq = request.cseq.number;
    if (request.method === 'INVITE' || request.method === 'UPDATE') this.#target = contactOf(request) ?? this.#target;
    return true;
  }

  /**
   * Sends a request in the dialog; its response is ignored.
   *
   * @param done called at the final response, or at a timeout or network error
   */
  send(method: string, headers: Readonly<Record<string, string>>, body: string, done: () => void): void {
    this.#cseq += 1;
    const loose = this.#routes.length === 0 || /;lr\b/i.test(this.#routes[0] as string);
    const request = new SipRequest(method, loose ? this.#target : uriOf(this.#routes[0] as string));
    const routes = loose ? this.#routes : [...this.#routes.slice(1), `<${this.#target}>`];
    for (const route of routes) request.add('Route', route);
    request.add('Max-Forwards', '70').add('From', this.#local).add('To', this.#remote);
    request.add('Call-ID', this.callId).add('CSeq', `${this.#cseq} ${method}`);
    request.add('User-Agent', USER_AGENT).add('Allow', ALLOW).add('Supported', SUPPORTED);
    for (const [name, value] of Object.entries(headers)) request.add(name, value);
    request.body = Buffer.from(body);
    try {
      const hop = this.#routes.length === 0 ? this.#target : uriOf(this.#routes[0] as string);
      const destination = this.#destination(hop);
      this.#endpoint.request(request, destination, {
        response: (response) => {
          if (response.status >= 200) done();
        },
        failed: done,
      });
    } catch (error) {
      // The far end's address is unusable: nothing is sent, but the call ends here.
      if (!(error instanceof SipTransportError) && !(error instanceof SipParseError)) throw error;
      done();
    }
  }

  /** The address of the next hop; a dialog over TCP stays on its connection. */
  #destination(hop: string): ReturnType<typeof destinationOf> {
    const destination = destinationOf(hop);
    const { transport, address, port } = this.#source;
    return transport === 'tcp' && !hop.includes('transport=') ? { transport, host: address, port } : destination;
  }
}

function contactOf(request: SipRequest): string | undefined {
  const contact = request.values('contact')[0];
  return contact === undefined ? undefined : uriOf(contact);
}

function uriOf(nameAddr: string): string {
  return parseNameAddr(nameAddr, 'Contact').uri;
}
