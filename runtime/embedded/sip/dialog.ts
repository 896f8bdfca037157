/** SIP dialogs (RFC 3261 section 12). */
import {
  type ClientTransaction,
  type Destination,
  destinationOf,
  parseNameAddr,
  parseUri,
  SipParseError,
  type SipMessage,
  type SipRequest,
  type SipResponse,
  type Timer,
  tagOf,
} from '../stack/index.ts';
import type { AppConnection } from './app-connection.ts';

/** Where the next request in a dialog goes (RFC 3261 section 12.2.1.1). */
export interface NextHop {
  readonly requestUri: string;
  /** Values of Route, in order. */
  readonly route: readonly string[];
  readonly destination: Destination;
}

/** The far end of an early or confirmed dialog. A forked INVITE has several. */
interface Remote {
  tag: string;
  /** To (for the caller) or From (for the callee) with its tag. */
  party: string;
  /** The URI of its Contact; undefined until it has sent one. */
  target: string | undefined;
  route: readonly string[];
}

/** This side's last session description and Contact, which a refreshing re-INVITE repeats (RFC 4028 section 7.4). */
export interface LocalSession {
  readonly contact: string | undefined;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/** Early dialogs kept for one INVITE. The limit stops a hostile callee that invents To tags. */
const MAX_FORKS = 32;

const NOTHING = Buffer.alloc(0);

/** The dialog id that the application and this server use: Call-ID and From tag of the initial request. */
export function dialogIdOf(callId: string, fromTag: string): string {
  return `${callId};from-tag=${fromTag}`;
}

/** Dialog state (RFC 3261 section 12). */
export class Dialog {
  readonly id: string;
  readonly role: 'uac' | 'uas';
  /** Method of the initial request. */
  readonly method: string;
  readonly callId: string;
  readonly localTag: string;
  /** This side's From or To value, with the tag. */
  readonly localParty: string;
  /** The application that handles the dialog; after a reconnect another connection. */
  app: AppConnection | undefined;
  /** Transaction id of the initial INVITE. */
  readonly transactionId: string;
  state: 'early' | 'confirmed' = 'early';
  localSeq: number;
  remoteSeq: number | undefined;
  /** Ends the dialog of a subscription when the subscription expires. */
  expiry: Timer | undefined;
  /** Session timer, and the side that refreshes; undefined without a session timer. */
  session: { readonly timer: Timer; readonly refresher: 'us' | 'them' } | undefined;
  localSession: LocalSession = { contact: undefined, contentType: undefined, body: NOTHING };
  /** The last INVITE that this side sent in the dialog. */
  invite: ClientTransaction | undefined;
  /**
   * Set when the 2xx crossed the application's CANCEL: the server sends BYE as soon as the application has sent the
   * ACK.
   */
  unwanted = false;
  /** CSeq of the initial INVITE, whichever side sent it. */
  readonly initialSeq: number;
  /** The source of the peer's packets, used in place of its Contact: for a peer behind NAT or on a TCP connection. */
  flow: Destination | undefined;
  /** Request-URI of the initial request, used until the far end has sent a Contact; undefined for the callee's side. */
  readonly #initialUri: string | undefined;
  #remote: Remote;
  /** Early dialogs of a forked INVITE, by To tag, with the last RSeq of each. */
  readonly #forks = new Map<string, { remote: Remote; rseq: number }>();

  private constructor(init: {
    role: 'uac' | 'uas';
    method: string;
    callId: string;
    fromTag: string;
    localTag: string;
    localParty: string;
    localSeq: number;
    initialSeq: number;
    app: AppConnection | undefined;
    transactionId: string;
    initialUri: string | undefined;
    remote: Remote;
  }) {
    this.id = dialogIdOf(init.callId, init.fromTag);
    this.role = init.role;
    this.method = init.method;
    this.callId = init.callId;
    this.localTag = init.localTag;
    this.localParty = init.localParty;
    this.localSeq = init.localSeq;
    this.initialSeq = init.initialSeq;
    this.app = init.app;
    this.transactionId = init.transactionId;
    this.#initialUri = init.initialUri;
    this.#remote = init.remote;
  }

  /**
   * Creates the callee's side, which begins with a response with a To tag (section 12.1.1).
   * @throws SipParseError when the request's Contact cannot be read.
   */
  static asUas(request: SipRequest, localTag: string, app: AppConnection | undefined, transactionId: string): Dialog {
    const to = request.header('to') ?? '';
    const fromTag = request.fromTag ?? '';
    const dialog = new Dialog({
      role: 'uas',
      method: request.method,
      callId: request.callId,
      fromTag,
      localTag,
      localParty: tagOf(to) === undefined ? `${to};tag=${localTag}` : to,
      // As observed at drachtio-server: this side's CSeq continues from the caller's.
      localSeq: request.cseq.number,
      initialSeq: request.cseq.number,
      app,
      transactionId,
      initialUri: undefined,
      remote: {
        tag: fromTag,
        party: request.header('from') ?? '',
        target: request.has('contact') ? targetOf(request) : undefined,
        route: request.values('record-route'),
      },
    });
    dialog.remoteSeq = request.cseq.number;
    return dialog;
  }

  /**
   * Creates the caller's side, which begins with a response with a To tag (section 12.1.2).
   * @throws SipParseError when the response's Contact cannot be read.
   */
  static asUac(
    request: SipRequest,
    response: SipResponse,
    app: AppConnection | undefined,
    transactionId: string,
  ): Dialog {
    const fromTag = request.fromTag ?? '';
    return new Dialog({
      role: 'uac',
      method: request.method,
      callId: request.callId,
      fromTag,
      localTag: fromTag,
      localParty: request.header('from') ?? '',
      localSeq: request.cseq.number,
      initialSeq: request.cseq.number,
      app,
      transactionId,
      initialUri: request.uri,
      remote: remoteOf(response, undefined),
    });
  }

  get remoteTag(): string {
    return this.#remote.tag;
  }

  get remoteParty(): string {
    return this.#remote.party;
  }

  /** The URI of the far end's Contact; undefined until it has sent one. */
  get target(): string | undefined {
    return this.#remote.target;
  }

  /**
   * Takes a provisional response to this side's INVITE: updates the early dialog of its To tag, or adds one.
   * @returns false for a reliable response that is repeated or out of order. It is neither passed on nor
   *   acknowledged, and the far end sends it again (RFC 3262 section 4).
   */
  early(response: SipResponse): boolean {
    if (this.state !== 'early') return true;
    const remote = remoteOf(response, this.#remote.target);
    const rseq = Number(response.header('rseq') ?? 0);
    const known = this.#forks.get(remote.tag);
    if (rseq > 0 && known !== undefined && known.rseq > 0 && rseq !== known.rseq + 1) return false;
    if (known === undefined && this.#forks.size >= MAX_FORKS) return true;
    this.#forks.set(remote.tag, { remote, rseq: Math.max(rseq, known?.rseq ?? 0) });
    this.#remote = remote;
    return true;
  }

  /**
   * Remembers the session description of this side's INVITE, response or ACK. Without a body the previous one stays.
   */
  describe(message: SipMessage): void {
    const { body } = message;
    const contact = message.header('contact') ?? this.localSession.contact;
    if (body.length === 0) this.localSession = { ...this.localSession, contact };
    else this.localSession = { contact, contentType: message.header('content-type'), body: ownCopy(body) };
  }

  /** Stops the session timer. */
  endSession(): void {
    this.session?.timer.cancel();
    this.session = undefined;
  }

  /** Directs requests to the early dialog that sent this RSeq, since the PRACK belongs there. */
  selectFork(rseq: number): void {
    for (const fork of this.#forks.values()) if (fork.rseq === rseq) this.#remote = fork.remote;
  }

  /** Takes the 2xx, which decides the fork that the dialog is with. */
  confirm(response: SipResponse): void {
    this.state = 'confirmed';
    if (this.role === 'uac') this.#remote = remoteOf(response, this.#remote.target);
    this.#forks.clear();
  }

  /** Takes the remote target from a Contact (section 12.2, target refresh). Without a Contact the target stays. */
  refreshTarget(message: SipMessage): void {
    if (message.has('contact')) this.#remote = { ...this.#remote, target: targetOf(message) };
  }

  /**
   * Checks and remembers the CSeq number of a request of the far end (section 12.2.2).
   * @returns false for a number below an earlier one.
   */
  acceptSeq(number: number): boolean {
    if (this.remoteSeq !== undefined && number < this.remoteSeq) return false;
    this.remoteSeq = number;
    return true;
  }

  /** @throws SipParseError, SipTransportError when nothing can be sent to the target or the first route. */
  nextHop(): NextHop {
    const { target = this.#initialUri, route } = this.#remote;
    if (target === undefined) throw new SipParseError('Contact', '', 'a Contact of the far end');
    const first = route[0];
    if (first === undefined) {
      return { requestUri: target, route: [], destination: this.flow ?? destinationOf(target) };
    }
    const { uri } = parseNameAddr(first, 'Record-Route');
    const parsed = parseUri(uri);
    const destination = destinationOf(parsed);
    if (parsed.params.has('lr')) return { requestUri: target, route, destination };
    // A strict router: its URI becomes the request-URI, and the target becomes the last route.
    return { requestUri: uri, route: [...route.slice(1), `<${target}>`], destination };
  }
}

/** Copies a body into memory of its own: the original keeps the whole received message alive, a pooled Buffer 64 KB. */
function ownCopy(body: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(body.length);
  body.copy(copy);
  return copy;
}

function remoteOf(response: SipResponse, fallback: string | undefined): Remote {
  return {
    tag: response.toTag ?? '',
    party: response.header('to') ?? '',
    target: response.has('contact') ? targetOf(response) : fallback,
    route: response.values('record-route').toReversed(),
  };
}

/** @throws SipParseError when Contact is missing or holds no URI. */
function targetOf(message: SipMessage): string {
  const contact = message.values('contact')[0];
  if (contact === undefined) throw new SipParseError('Contact', '', 'a URI');
  return parseNameAddr(contact, 'Contact').uri;
}
